package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/cost"
	"muster/regress/internal/diff"
	"muster/regress/internal/outcome"
)

var epoch = time.Date(2025, 1, 31, 14, 25, 1, 0, time.UTC)

func exit(code int) *regress.Ending { return &regress.Ending{Kind: regress.Exited, Code: code} }

func signal(number int) *regress.Ending {
	return &regress.Ending{Kind: regress.Signalled, Code: number}
}

func diffOf(part, old, now string) Difference {
	d := Difference{Part: part, Old: readable.Count(len(old), "byte"), Now: readable.Count(len(now), "byte")}
	d.Diff, d.Hidden, d.Binary = diff.Unified([]byte(old), []byte(now), diff.Limits{})
	return d
}

// verdictCases has one case of every verdict, in no particular order.
func verdictCases() []Case {
	cost := outcome.Cost{CPU: 12300 * time.Microsecond, Wall: 13 * time.Millisecond, PeakRSS: 9320}
	ending := func(old, now string) Difference { return Difference{Part: outcome.EndingPart, Old: old, Now: now} }
	return []Case{
		{Name: "a/b.go", Index: 3, Verdict: regress.Changed, Ending: exit(0), GoldenEnding: exit(0), Cost: cost,
			Differences: []Difference{diffOf("stdout", "one\ntwo\nthree\n", "one\n2\nthree\n")}},
		{Name: "a/same.go", Index: 4, Verdict: regress.Identical, Ending: exit(0), GoldenEnding: exit(0), Cost: cost},
		{Name: "crash.go", Index: 0, Verdict: regress.Crashed, Ending: signal(11), GoldenEnding: exit(0), Cost: cost,
			Differences: []Difference{ending("exit 0", "signal 11")}},
		{Name: "fail.go", Index: 1, Verdict: regress.NewlyFailing, Ending: exit(2), GoldenEnding: exit(0), Cost: cost,
			Differences: []Difference{
				ending("exit 0", "exit 2"),
				diffOf("stderr", "", "fail.go:3: undefined: x\n"),
				{Part: "fail.o", Old: "file of 3,120 bytes", Now: "absent"},
				{Part: "fail.bin", Old: "file of 3,120 bytes", Now: "file of 12 bytes", Binary: true},
			}, More: 2},
		{Name: "pass.go", Index: 2, Verdict: regress.NewlyPassing, Ending: exit(0), GoldenEnding: exit(1), Cost: cost,
			Differences: []Difference{ending("exit 1", "exit 0")}},
		{Name: "slow.go", Index: 5, Verdict: regress.NewlyTimedOut, Ending: &regress.Ending{Kind: regress.TimedOut}, GoldenEnding: exit(0), Cost: cost,
			Differences: []Difference{ending("exit 0", "timed-out")}},
		{Name: "big.go", Index: 6, Verdict: regress.NewlyOutOfMemory, Ending: &regress.Ending{Kind: regress.OutOfMemory}, GoldenEnding: exit(0), Cost: cost,
			Differences: []Difference{ending("exit 0", "out-of-memory")}},
		{Name: "loud.go", Index: 7, Verdict: regress.NewlyOutputLimited, Ending: &regress.Ending{Kind: regress.OutputLimit}, GoldenEnding: exit(0), Cost: cost,
			Differences: []Difference{ending("exit 0", "output-limit")}},
		{Name: "now and then.go", Index: 8, Verdict: regress.Flaky, Ending: exit(0), GoldenEnding: exit(0), Cost: cost,
			Flaky: []string{"stdout", "a.o"}},
		{Name: "new\x1b[31m.go", Index: 9, Verdict: regress.New, Ending: exit(0), Cost: cost},
		{Name: "twice.go", Index: 11, Verdict: regress.Changed, Unstable: true, Ending: exit(0), GoldenEnding: exit(0), Cost: cost,
			Differences: []Difference{diffOf("stdout", "done\n", "done at 12:31\n")}, Flaky: []string{"stdout"}},
		{Name: "once.go", Index: 12, Verdict: regress.DifferedOnce, Ending: exit(0), GoldenEnding: exit(0), Cost: cost,
			Differences: []Difference{diffOf("stdout", "one\n", "1\n")}, Masked: []string{"stderr"}, Holes: regress.Holes{Whole: 1}},
		{Name: "clock.go", Index: 13, Verdict: regress.Identical, Ending: exit(0), GoldenEnding: exit(0), Cost: cost,
			Flaky: []string{"stdout", "a.time"}, Masked: []string{"stdout", "a.time"},
			Holes: regress.Holes{Parts: 1, Lines: 14, AllLines: 2310, Free: 3}},
		{Name: "gone.go", Index: 14, Verdict: regress.Missing, GoldenEnding: exit(0)},
		{Name: "disk.go", Index: 10, Verdict: regress.EnvironmentFailed, Why: "write /tmp/x: no space left on device"},
	}
}

// summaryOf sums the cases up as their owner would.
func summaryOf(command string, cases []Case) regress.Summary {
	s := regress.Summary{
		Command: command, Run: "20250131-142501-3f9a", Cases: len(cases), ExitStatus: 1,
		Selection: "--cases 'a/*' --sample 15", NotSampled: 1385,
		Sources: regress.Sources{
			Known: 15_000, Changed: 1204, Names: []string{"a/b.go", "c\x1b.go", "d"},
			Shared: 400, SharedAdded: 1, SharedRemoved: 1, SharedNames: []string{"HDR_a.h", "HDR_b.h"},
		},
		Settings:    []string{"the golden was recorded with --stdin, this check has no --stdin"},
		ToolChanged: []string{"/bin/file0\x1b", "/bin/file1", "/bin/file2", "/bin/file3"},
		Wall:        17300 * time.Millisecond, CPU: 33100 * time.Millisecond, OwnCPU: 1200 * time.Millisecond, CoresBusy: 1.934,
	}
	for _, c := range cases {
		s.Verdicts[c.Verdict]++
		AddMasked(&s.Masked, c)
		if c.Ending != nil {
			s.Endings.Add(*c.Ending)
		}
	}
	return s
}

// checkRun is a check of one case per verdict, with retries.
func checkRun() []Event {
	cases := verdictCases()
	events := []Event{Started{Command: "check", Run: "20250131-142501-3f9a", Cases: len(cases), Jobs: 2, At: epoch}}
	at := epoch
	for _, c := range cases {
		if c.Ending == nil {
			continue
		}
		events = append(events, CaseStarted{Name: c.Name, Pass: 1, At: at})
		at = at.Add(700 * time.Millisecond)
		events = append(events, CaseRan{Name: c.Name, Pass: 1, At: at, CPU: 1300 * time.Millisecond, Wall: 700 * time.Millisecond,
			Differs: c.Verdict != regress.Identical && c.Verdict != regress.New})
	}
	events = append(events,
		PassStarted{Pass: 2, Runs: 4, At: at},
		Note{Text: "lane 2 was started again"},
		Note{Text: "the folder \x1b[2J is on a disk", Warning: true},
	)
	for _, c := range cases {
		events = append(events, c)
	}
	return append(events, Finished{summaryOf("check", cases)})
}

// longRun is a run of n cases of which one in every is not identical; three
// cases end each millisecond.
func longRun(command string, n, every int) []Event {
	events := []Event{Started{Command: command, Run: "20250131-142501-3f9a", Cases: n, Jobs: 2, At: epoch}}
	var cases []Case
	at := epoch
	for i := range n {
		name := fmt.Sprintf("src/folder%d/case%04d.go", i%7, i)
		c := Case{Name: name, Index: i, Verdict: regress.Identical, Ending: exit(0), GoldenEnding: exit(0)}
		differs := i%every == every-1
		if differs {
			c.Verdict = regress.Changed
			c.Differences = []Difference{diffOf("stdout", "a\nb\n", fmt.Sprintf("a\n%d\n", i))}
		}
		events = append(events, CaseStarted{Name: name, Pass: 1, At: at})
		at = at.Add(time.Second / 3000)
		events = append(events, CaseRan{Name: name, Pass: 1, At: at, Differs: differs, CPU: time.Second / 1550, Wall: time.Second / 1500}, c)
		cases = append(cases, c)
	}
	return append(events, Finished{summaryOf(command, cases)})
}

// withCauses puts causes before the end of a run: the first one in all cases that differ,
// the others in fewer and fewer.
func withCauses(events []Event, n int) []Event {
	var members []string
	for _, ev := range events {
		if c, ok := ev.(Case); ok && c.Verdict > regress.EnvironmentFailed && c.Verdict < regress.Flaky {
			members = append(members, c.Name)
		}
	}
	end := events[len(events)-1].(Finished)
	end.Summary.Groups = n
	all := slices.Clone(events[:len(events)-1])
	for i := range n {
		of := members[:max(len(members)/(i+1), min(1, len(members)))]
		c := cause.Cause{
			ID: fmt.Sprintf("G%d", i+1), Signature: fmt.Sprintf("%016x", i), Name: `"ll" → "LL"`, Kind: cause.Edit, Family: "suffixes",
			Cases: len(of), Lines: 3 * len(of), Sole: len(of) / 2,
		}
		if i > 0 {
			c.Name = fmt.Sprintf("the %d. cause, %s", i+1, strings.Repeat("of a long name ", 10))
		}
		if len(of) > 0 {
			c.Example, c.Smallest = of[0], of[len(of)-1]
		}
		all = append(all, Group{Cause: c, Excerpt: " before\n-4ll\n+4LL\n after\n", Members: of})
	}
	return append(all, end)
}

// costOfTen is what a change costs that makes ten cases slower.
func costOfTen() Cost {
	var pairs []cost.Pair
	for i := range 10 {
		for range 3 {
			old := time.Duration(i+1) * time.Millisecond
			pairs = append(pairs, cost.Pair{Case: fmt.Sprintf("case%d.go", i), Old: outcome.Cost{CPU: old, PeakRSS: 9000}, New: outcome.Cost{CPU: old * 11 / 10, PeakRSS: 9100}})
		}
	}
	estimate := cost.NewEstimate(pairs, 1000)
	estimate.Worst = estimate.Cases[:2]
	return Cost{Estimate: estimate, Measured: 10, Took: 2 * time.Second}
}
