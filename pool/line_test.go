package pool

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A line holds the values that a slice holds, and its ring is not much longer than the slice.
func TestLine(t *testing.T) {
	type entry struct {
		value  int
		number uint64
	}
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 0))
		var l line[int]
		var model []entry
		growing := 0
		for n := range 3000 {
			if n%200 == 0 {
				growing = random.IntN(2)
			}
			switch at := random.IntN(max(1, len(model))); {
			case random.IntN(3) <= growing:
				model = append(model, entry{n, l.add(n, make(chan bool))})
			case len(model) == 0:
			case random.IntN(2) == 0:
				if got := l.next().value; got != model[0].value {
					t.Fatalf("seed %d: next is %d, want %d", seed, got, model[0].value)
				}
				model = model[1:]
			default:
				number := model[at].number
				model = slices.Delete(model, at, at+1)
				if first, second := l.leave(number), l.leave(number); !first || second {
					t.Fatalf("seed %d: number %d left: %v, and again: %v", seed, number, first, second)
				}
			}
			if l.empty() != (len(model) == 0) {
				t.Fatalf("seed %d: empty is %v with %d values", seed, l.empty(), len(model))
			}
			if len(l.places) > max(lineMin, 8*len(model)) {
				t.Fatalf("seed %d: %d places for %d values", seed, len(l.places), len(model))
			}
		}
	}
}

// One producer that joins a line and leaves it costs no new ring.
func TestLeaveAllocatesNothing(t *testing.T) {
	var l line[int]
	woken := make(chan bool, 1)
	l.add(0, woken)
	if n := testing.AllocsPerRun(1000, func() { l.leave(l.add(1, woken)) }); n > 0 {
		t.Errorf("%v allocations to join a line of one and leave it", n)
	}
}
