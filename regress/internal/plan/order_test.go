package plan_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"muster/regress/internal/plan"
)

func TestOrder(t *testing.T) {
	got := plan.Order(4, func(i int) bool { return i >= 2 }, nil)
	if want := []int{2, 3, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// TestOrderOfDurations: long cases come first, short ones and those that take
// nearly as long stay as they are.
func TestOrderOfDurations(t *testing.T) {
	list := []string{"1ms", "900ms", "60ms", "10s", "70ms", "100ms", "0s", "1s", "2s"}
	took := make([]time.Duration, len(list))
	for i, name := range list {
		var err error
		if took[i], err = time.ParseDuration(name); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, i := range plan.Order(len(list), func(i int) bool { return list[i] == "60ms" }, took) {
		got = append(got, list[i])
	}
	if want := []string{"60ms", "10s", "2s", "900ms", "1s", "70ms", "100ms", "1ms", "0s"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// TestOrderIsShort: on any number of lanes a run takes hardly longer than it must:
// than the longest case, or than all of them evenly spread.
func TestOrderIsShort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		lanes, n := 1+random.IntN(8), 1+random.IntN(100)
		took := make([]time.Duration, n)
		var sum time.Duration
		for i := range n {
			took[i] = time.Duration(math.Exp(random.NormFloat64()*2) * 1e8)
			sum += took[i]
		}
		free := make([]time.Duration, lanes) // when each lane is
		for _, i := range plan.Order(n, func(int) bool { return false }, took) {
			l := slices.Index(free, slices.Min(free))
			free[l] += took[i]
		}
		least := max(sum/time.Duration(lanes), slices.Max(took))
		if wall := slices.Max(free); wall > least*3/2+64*time.Millisecond {
			t.Errorf("%d lanes, %d cases: %v, which could be %v", lanes, n, wall, least)
		}
	}
}
