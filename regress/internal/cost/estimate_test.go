package cost_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/regress/internal/cost"
	"muster/regress/internal/outcome"
)

// noise draws pairs of cases of log-normal sizes in a machine that interrupts one run in
// twenty, and in which the new command takes factor times as long.
func noise(seed uint64, cases, rounds int, factor float64) (pairs []cost.Pair) {
	r := rand.New(rand.NewPCG(seed, 1))
	run := func(size float64) outcome.Cost {
		took := size * (1 + 0.03*math.Abs(r.NormFloat64()))
		if r.IntN(20) == 0 {
			took *= 1 + r.ExpFloat64()
		}
		return outcome.Cost{CPU: time.Duration(took), Wall: time.Duration(took), PeakRSS: 10000}
	}
	for round := range rounds {
		for i := range cases {
			size := 2e6 * math.Exp(rand.New(rand.NewPCG(seed, uint64(1000+i))).NormFloat64())
			p := cost.Pair{Case: fmt.Sprint("case ", i)}
			if p.Old, p.New = run(size), run(size*factor); (round+i)%2 == 0 {
				p.New, p.Old = run(size*factor), run(size)
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// Whoever swaps the commands gets the reverse of everything, exactly enough.
func TestSidesAreTreatedAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := drawPairs(t)
		swapped := make([]cost.Pair, len(pairs))
		for i, p := range pairs {
			swapped[i] = cost.Pair{Case: p.Case, Old: p.New, New: p.Old}
		}
		there, back := cost.NewEstimate(pairs, 0), cost.NewEstimate(swapped, 0)
		for _, r := range [][2]cost.Ratio{{there.CPU, back.CPU}, {there.Memory, back.Memory}} {
			if r[0].IsKnown() != r[1].IsKnown() || r[0].Bounded() != r[1].Bounded() {
				t.Fatalf("%+v, and swapped %+v", r[0], r[1])
			}
			if r[0].IsKnown() && !near(r[0].Value*r[1].Value, 1) {
				t.Fatalf("%v × %v is not 1", r[0].Value, r[1].Value)
			}
			if r[0].Bounded() && (!near(r[0].Low*r[1].High, 1) || !near(r[0].High*r[1].Low, 1)) {
				t.Fatalf("%+v, and swapped %+v", r[0], r[1])
			}
		}
	})
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func drawPairs(t *rapid.T) []cost.Pair {
	figures := rapid.Custom(func(t *rapid.T) outcome.Cost {
		return outcome.Cost{
			CPU:     time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "cpu")),
			PeakRSS: rapid.Int64Range(0, 1e6).Draw(t, "peak"),
		}
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cost.Pair {
		return cost.Pair{Case: fmt.Sprint(rapid.IntRange(0, 30).Draw(t, "case")), Old: figures.Draw(t, "old"), New: figures.Draw(t, "new")}
	}), 0, 200).Draw(t, "pairs")
}

// Whatever the pairs are: the ratio is in its interval, nothing is NaN, and the order of
// the cases does not matter.
func TestEstimatesAreSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := drawPairs(t)
		e := cost.NewEstimate(pairs, 100)
		for _, r := range []cost.Ratio{e.CPU, e.Memory} {
			if !(r.Value >= 0) || r.Bounded() && !(r.Low <= r.Value*(1+1e-12) && r.Value <= r.High*(1+1e-12) && r.Low >= 0) {
				t.Fatalf("%+v", r)
			}
		}
		again := cost.NewEstimate(rapid.Permutation(pairs).Draw(t, "permuted"), 100)
		if e.CPU.IsKnown() && !near(again.CPU.Value, e.CPU.Value) {
			t.Fatalf("in another order %v, not %v", again.CPU, e.CPU)
		}
	})
}

func TestNoPairs(t *testing.T) {
	e := cost.NewEstimate([]cost.Pair{{Case: "a", New: outcome.Cost{CPU: 1}}}, 0)
	if e.CPU.IsKnown() || e.Memory.IsKnown() || e.Pairs != 0 || len(e.Cases)+len(e.Worst)+len(e.Warnings) != 0 {
		t.Errorf("%+v", e)
	}
}

// Between sizes that differ a thousand times the ratio is that of the sums: what the
// whole corpus takes.
func TestRatioIsOfTheSums(t *testing.T) {
	var pairs []cost.Pair
	var old, now time.Duration
	for i := range 40 {
		p := cost.Pair{Case: fmt.Sprint(i), Old: outcome.Cost{CPU: time.Duration(1+i*i) * time.Millisecond, PeakRSS: 1000}}
		p.New = outcome.Cost{CPU: p.Old.CPU + time.Duration(i%3)*time.Millisecond, PeakRSS: 1500}
		old, now = old+p.Old.CPU, now+p.New.CPU
		pairs = append(pairs, p)
	}
	e := cost.NewEstimate(pairs, 0)
	if want := float64(now) / float64(old); !near(e.CPU.Value, want) || !near(e.Memory.Value, 1.5) {
		t.Errorf("%v and %v, not %v and 1.5", e.CPU, e.Memory, want)
	}
}

// Noise makes suspects of some cases; further pairs leave those that cost more.
func TestWorstAreConfirmed(t *testing.T) {
	slow := func(pairs []cost.Pair) []cost.Pair {
		for i := range pairs {
			if pairs[i].Case == "case 7" {
				pairs[i].New.CPU *= 3
			}
		}
		return pairs
	}
	e := cost.NewEstimate(slow(noise(1, 200, 1, 1)), 0)
	suspects := e.Suspects()
	if len(suspects) < 2 || !slices.Contains(suspects, "case 7") {
		t.Errorf("suspects %q: case 7 is to be among them, and not alone", suspects)
	}
	further := slices.DeleteFunc(slow(noise(2, 200, 3, 1)), func(p cost.Pair) bool { return !slices.Contains(suspects, p.Case) })
	e.Confirm(further)
	if len(e.Worst) != 1 || e.Worst[0].Name != "case 7" || e.Worst[0].Pairs != 3 || math.Abs(e.Worst[0].CPU-3) > 0.3 {
		t.Errorf("%+v", e.Worst)
	}
}

func TestWarnings(t *testing.T) {
	kinds := func(pairs []cost.Pair) (list []cost.Kind) {
		for _, w := range cost.NewEstimate(pairs, 20000).Warnings {
			list = append(list, w.Kind)
		}
		return list
	}
	quick := noise(1, 3, 1, 1)
	for i := range quick {
		quick[i].Old.CPU, quick[i].New.CPU = 4e5, 4e5
	}
	uneven := noise(1, 40, 16, 1)
	for i := range uneven {
		if uneven[i].Case == "case 1" {
			uneven[i].Old.CPU *= 1000
			uneven[i].New.CPU *= 1000
		}
	}
	for want, got := range map[string][]cost.Kind{
		"[too-few]":      kinds(quick),
		"[uneven noisy]": kinds(uneven),
		"[]":             kinds(noise(1, 400, 3, 1)),
		"[noisy]":        kinds(noise(1, 60, 1, 1)),
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
