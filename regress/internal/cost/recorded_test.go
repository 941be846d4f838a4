package cost_test

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"muster/regress/internal/cost"
)

// recorded reads the noise of a busy machine with two CPUs: pairs of runs of the same
// program, by round, as bench/cost writes them.
func recorded(t *testing.T) (rounds [][]cost.Pair) {
	t.Helper()
	f, err := os.Open("testdata/same.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	us := func(text string) time.Duration {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(n) * time.Microsecond
	}
	last := ""
	for _, l := range lines {
		if l[0] != last {
			rounds, last = append(rounds, nil), l[0]
		}
		p := cost.Pair{Case: l[1]}
		p.Old.CPU, p.New.CPU = us(l[2]), us(l[3])
		rounds[len(rounds)-1] = append(rounds[len(rounds)-1], p)
	}
	return rounds
}

// swapped is a round as it might as well have been: of the same program either run of a
// pair can stand for the old one. The new one takes factor times as long.
func swapped(r *rand.Rand, round []cost.Pair, factor float64) []cost.Pair {
	pairs := make([]cost.Pair, len(round))
	for i, p := range round {
		if r.IntN(2) == 0 {
			p.Old, p.New = p.New, p.Old
		}
		p.New.CPU = time.Duration(float64(p.New.CPU) * factor)
		pairs[i] = p
	}
	return pairs
}

const (
	// sameTrials are of checks of the same program, of which 3 may be told wrongly at the
	// level of 0.999, and by chance twice as many.
	sameTrials = 3000
	sameMax    = 6
	// trials are of checks of another one, of which nearly all must find it.
	trials = 500
)

func TestRecordedNoise(t *testing.T) {
	rounds := recorded(t)
	for i, round := range rounds {
		if e := cost.NewEstimate(round, 0); !e.CPU.Bounded() || e.CPU.Low > 1 {
			t.Errorf("round %d as it was: %+v", i, e.CPU)
		}
	}
	count := func(checks int, factor float64) (above, below int) {
		r := rand.New(rand.NewPCG(1, 1))
		for i := range checks {
			switch e := cost.NewEstimate(swapped(r, rounds[i%len(rounds)], factor), 0); {
			case e.CPU.Low > 1:
				above++
			case e.CPU.Bounded() && e.CPU.High < 1:
				below++
			}
		}
		return above, below
	}
	if above, below := count(sameTrials, 1); above+below > sameMax {
		t.Errorf("the same program: of %d checks %d tell that it is slower, and %d faster", sameTrials, above, below)
	}
	if found, _ := count(trials, 1.05); found < trials*95/100 {
		t.Errorf("5 %% more is found by %d of %d checks", found, trials)
	}
	if _, found := count(trials, 1/1.05); found < trials*95/100 {
		t.Errorf("5 %% less is found by %d of %d checks", found, trials)
	}
}

// One case, or a few: what there is of pairs makes the interval.
func TestFewCases(t *testing.T) {
	for _, cases := range []int{1, 3} {
		alarms, found := 0, 0
		for seed := range uint64(200) {
			if e := cost.NewEstimate(noise(seed, cases, 30, 1), 0); !e.CPU.Bounded() || e.CPU.Low > 1 {
				alarms++
			}
			if e := cost.NewEstimate(noise(seed, cases, 30, 1.1), 0); e.CPU.Low > 1 {
				found++
			}
		}
		if alarms > 2 || found < 190 {
			t.Errorf("%d cases: %d alarms of 200, 10 %% found %d times", cases, alarms, found)
		}
		if e := cost.NewEstimate(noise(1, cases, 2, 1), 0); e.CPU.Bounded() {
			t.Errorf("two pairs of %d cases have an interval: %+v", cases, e.CPU)
		}
	}
}

func TestLimits(t *testing.T) {
	for text, want := range map[string]cost.Limit{
		"cpu>5%":           {What: cost.CPU, Part: 0.05},
		" memory > 12.5 %": {What: cost.Memory, Part: 0.125},
		"cpu>0%":           {What: cost.CPU},
	} {
		got, err := cost.ParseLimit(text)
		if err != nil || got.What != want.What || !near(1+got.Part, 1+want.Part) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := cost.ParseLimit(got.String()); err != nil || again != got {
			t.Errorf("%q comes back as %+v, %v", got, again, err)
		}
	}
	for _, text := range []string{"", "cpu", "cpu>", "cpu>5", "cpu>-1%", " ", "cpu>-5%", "cpu>NaN%", "cpu>Inf%", "cpu>1e400%", "cpu>1e9%", "cpu>%", "cpu>>5%", "CPU>5%", "wall>5%", ">5%", "cpu<5%", "cpu>5%%"} {
		if l, err := cost.ParseLimit(text); err == nil {
			t.Errorf("%q is %+v", text, l)
		}
	}
	e := cost.Estimate{CPU: cost.Ratio{Value: 1.08, Low: 1.06, High: 1.1}, Memory: cost.Ratio{Value: 1.08}}
	for text, want := range map[string][3]bool{ // passed, decided, untold
		"cpu>5%": {true, false, false}, "cpu>6%": {false, false, false}, "cpu>10%": {false, true, false}, "cpu>1%": {true, true, false},
		"memory>5%": {false, false, true},
	} {
		l, err := cost.ParseLimit(text)
		if got := [3]bool{l.Passed(e), l.Decided(e), l.Inconclusive(e)}; err != nil || got != want {
			t.Errorf("%s: %v, want %v, %v", text, got, want, err)
		}
	}
}

// An interval that reaches far says something of one side only; of nothing, the ratio
// would mislead.
func TestTooLittleToTell(t *testing.T) {
	for r, want := range map[cost.Ratio]bool{
		{Value: 1.05}:                       true,
		{Value: 1, Low: 0.33, High: 3}:      true,
		{Value: 1, Low: 0.84, High: 1.19}:   false,
		{Value: 4, Low: 1.5, High: 10}:      false,
		{Value: 0.25, Low: 0.1, High: 0.66}: false,
	} {
		if r.Vague() != want {
			t.Errorf("%+v: too little to tell is %v", r, r.Vague())
		}
	}
	for r, want := range map[cost.Ratio]map[string]bool{
		{Value: 1, Low: 0.33, High: 3}:  {"cpu>5%": true, "cpu>100%": true, "cpu>200%": false},
		{Value: 2, Low: 1.02, High: 4}:  {"cpu>1%": false, "cpu>5%": true},
		{Value: 1, Low: 0.9, High: 1.1}: {"cpu>5%": false},
	} {
		for text, untold := range want {
			l, err := cost.ParseLimit(text)
			if got := l.Inconclusive(cost.Estimate{CPU: r}); err != nil || got != untold {
				t.Errorf("%+v, %s: cannot be judged is %v, %v", r, text, got, err)
			}
		}
	}
	few := cost.NewEstimate(noise(1, 2, 1, 1), 0)
	if len(few.Warnings) == 0 || few.Warnings[0] != (cost.Warning{Kind: cost.TooFew, Text: "no interval from 2 pairs of 2 cases; run more cases"}) {
		t.Errorf("%+v", few.Warnings)
	}
	scattered := noise(1, 2, 4, 1)
	for i := range scattered {
		scattered[i].New.CPU *= time.Duration(1 + 5*(i/2%2))
	}
	if e := cost.NewEstimate(scattered, 0); !e.CPU.Vague() || len(e.Warnings) == 0 || e.Warnings[0].Kind != cost.TooFew || slices.ContainsFunc(e.Warnings, func(w cost.Warning) bool { return w.Kind == cost.Noisy }) {
		t.Errorf("%+v", e)
	}
}
