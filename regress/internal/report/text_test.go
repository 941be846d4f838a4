package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"muster/regress"
	"strings"
	"testing"
)

// feed feeds events to a reporter made for two buffers, and closes it.
func feed(t *testing.T, events []Event, colour bool, columns int, makeReporter func(Console) Reporter) (out, err string) {
	t.Helper()
	var o, e bytes.Buffer
	stream := func(w io.Writer) Stream {
		return Stream{Writer: w, Colour: colour, Width: func() int { return columns }}
	}
	c := Console{Out: stream(&o), Err: stream(&e)}
	// Results know that they are on a terminal by their stream alone.
	c.Out.Terminal = colour
	r := makeReporter(c)
	for _, ev := range events {
		if err := r.Handle(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return o.String(), e.String()
}

func text(v Verbosity) func(Console) Reporter {
	return func(c Console) Reporter { return NewText(c, v) }
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		file    string
		v       Verbosity
		colour  bool
		columns int
	}{
		{"plain.txt", Normal, false, 80},
		{"quiet.txt", Quiet, false, 80},
		{"verbose.txt", Verbose, false, 80},
		{"terminal120.txt", Normal, true, 120},
		{"terminal80.txt", Normal, true, 80},
		{"terminal40.txt", Normal, true, 40},
	} {
		t.Run(c.file, func(t *testing.T) {
			out, errs := feed(t, checkRun(), c.colour, c.columns, text(c.v))
			checkGolden(t, c.file, []byte(visibleColours("== stdout\n"+out+"== stderr\n"+errs)))
		})
	}
}

// visibleColours makes a golden file readable.
func visibleColours(text string) string { return strings.ReplaceAll(text, "\x1b", "<ESC>") }

// If many cases differ, the report begins with the causes, and says how to see the cases.
func TestTextIsBounded(t *testing.T) {
	run := withCauses(longRun("check", 3000, 2), 12)
	out, _ := feed(t, run, false, 80, text(Normal))
	if n := strings.Count(out, "\n"); n > 40 || !strings.HasPrefix(out, "12 causes\n        1,500  G1 ") {
		t.Errorf("%d lines:\n%.200s", n, out)
	}
	for want, times := range map[string]int{
		"@@ -1,2 +1,2 @@": 0,
		"\nchanged":       0,
		"\nmuster show G1 lists the cases of a cause, muster show NAME shows one, --verbose lists all\n": 1,
		"check: 1,500 of 3,000 cases not identical\n":                                                    1,
		"12 causes\n": 1,
		"\n        1,500  G1   \"ll\" → \"LL\"\n": 1,
		"\n            4  more: muster groups\n":  1,
	} {
		if got := strings.Count(out, want); got != times {
			t.Errorf("%d times %q, want %d", got, want, times)
		}
	}
	verbose, _ := feed(t, run, false, 80, text(Verbose))
	if got := strings.Count(verbose, "src/folder"); got != 3000 {
		t.Errorf("verbose names %d cases of 3,000", got)
	}
	if got := strings.Count(verbose, "@@ -1,2 +1,2 @@"); got != 1500 {
		t.Errorf("verbose shows the differences of %d cases of 1,500", got)
	}
	if !strings.Contains(verbose, "  G12  ") {
		t.Error("verbose does not list all causes")
	}
}

// One case with many large differences is bounded too.
func TestCaseIsBounded(t *testing.T) {
	c := Case{Name: "it's.go", Verdict: regress.Changed, More: 3}
	for i := range 5 {
		c.Differences = append(c.Differences, diffOf(fmt.Sprintf("f%d", i), "", strings.Repeat("line\n", 100)))
	}
	got := (&results{}).caseWhole(c)
	if n := strings.Count(got, "\n+") + strings.Count(got, "\n    +"); n > caseLinesMax {
		t.Errorf("%d lines of diff", n)
	}
	// Each diff has 101 rows: 12 of the first two are shown, none of the others.
	if want := "  … 481 more lines and 3 more parts: muster show 'it'\"'\"'s.go'\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at the end\n%s", got, want)
	}
}

// What a tool wrote, what a file is called and what an events file says never
// reach the terminal as they are.
func TestHostileText(t *testing.T) {
	const evil = "\x1b]0;owned\x07\x9b2J\u202e\r\x00\xff"
	ending := exit(0)
	events := []Event{
		Started{Command: evil, Run: evil, Cases: 9, At: epoch},
		CaseStarted{Name: evil, At: epoch},
		PassStarted{Pass: 3, Runs: -1, At: epoch},
		Note{Text: evil}, Note{Text: evil, Warning: true},
		Case{Name: evil, Verdict: regress.Flaky, Ending: ending, Flaky: []string{evil}},
		Case{Name: evil, Verdict: regress.EnvironmentFailed, Why: evil},
		Case{Name: "-" + evil, Verdict: regress.Changed, Differences: []Difference{
			{Part: evil, Old: evil, Now: evil, Diff: "+" + evil + "\n", Hidden: 7}}},
		Finished{regress.Summary{Command: evil, Run: evil, Cases: 9, ExitStatus: 77, Interrupted: true, BrokeOff: true, NotRun: 2}},
	}
	for _, v := range []Verbosity{Normal, Quiet, Verbose} {
		out, errs := feed(t, events, false, 80, text(v))
		checkHarmless(t, out+errs)
		out, errs = feed(t, events, false, 80, func(c Console) Reporter { return NewJSON(c, v) })
		checkHarmless(t, out+errs)
	}
	var l tally
	for _, ev := range events {
		l.handle(ev)
		checkHarmless(t, l.line(epoch, 200))
	}
}

func TestSummaryFitsAScreen(t *testing.T) {
	everything := regress.Summary{Command: "check", Run: "r", Cases: 100, NotRun: 1, Interrupted: true, BrokeOff: true, ExitStatus: 130}
	for v := range everything.Verdicts {
		everything.Verdicts[v] = 1
	}
	record := regress.Summary{Command: "record", Run: "r", Cases: 100, Recorded: 90, NotRun: 1, Endings: regress.Endings{Succeeded: 1, Failed: 2, Signalled: 3, TimedOut: 4, OutOfMemory: 5, OutputLimit: 6}, Failing: make([]regress.Failure, 5)}
	for _, s := range []regress.Summary{everything, record} {
		if n := strings.Count((&results{}).summary(s), "\n"); n > 20 {
			t.Errorf("%d lines:\n%s", n, (&results{}).summary(s))
		}
	}
	r := &results{stream: Stream{Terminal: true, Width: func() int { return 40 }}}
	for _, ev := range withCauses([]Event{Finished{everything}}, 100)[:100] {
		if err := r.Handle(ev); err != nil {
			t.Fatal(err)
		}
	}
	everything.Groups = 100
	table := r.causeTable(everything)
	if n := strings.Count(table, "\n"); n > 10 {
		t.Errorf("%d lines of causes:\n%s", n, table)
	}
	for line := range strings.Lines(table) {
		if n := textColumns(strings.TrimSuffix(line, "\n")); n >= 40 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestSummaries(t *testing.T) {
	var b strings.Builder
	base := regress.Summary{Run: "20250131-142501-3f9a", Cases: 3000, Wall: 63e9, CPU: 121e9, OwnCPU: 3e9, CoresBusy: 1.92}
	with := func(title string, change func(*regress.Summary)) {
		s := base
		change(&s)
		fmt.Fprintf(&b, "== %s\n%s", title, (&results{}).summary(s))
	}
	with("record", func(s *regress.Summary) {
		s.Command, s.Recorded = "record", 3000
		s.Endings = regress.Endings{Succeeded: 2948, Failed: 50, TimedOut: 2}
		s.Failing = []regress.Failure{{Name: "a\x1b.c", Ending: regress.Ending{Code: 2}, Line: "a.c: \x1b[2J error"}, {Name: "b.c", Ending: regress.Ending{Kind: regress.TimedOut}}}
		s.Verdicts[regress.Flaky], s.Masked = 3, regress.Masked{Cases: 5, Parts: 9, CutOff: 2, CutOffParts: 4, Holes: regress.Holes{Parts: 4, Lines: 10, AllLines: 2310, Whole: 1}}
	})
	with("record, every case fails", func(s *regress.Summary) {
		s.Command, s.Recorded, s.Endings, s.ExitStatus = "record", 0, regress.Endings{Failed: 3000}, 1
	})
	with("record, interrupted", func(s *regress.Summary) {
		s.Command, s.Recorded, s.NotRun, s.Interrupted, s.BrokeOff, s.ExitStatus = "record", 1200, 1800, true, true, 130
		s.Endings = regress.Endings{Succeeded: 1200}
	})
	with("all identical", func(s *regress.Summary) { s.Command, s.Verdicts[regress.Identical] = "check", 3000 })
	with("all identical, not all compared", func(s *regress.Summary) {
		s.Command, s.Verdicts[regress.Identical], s.Masked = "check", 3000, regress.Masked{Cases: 5, Parts: 9, CutOff: 3, CutOffParts: 6, Holes: regress.Holes{Parts: 1, Lines: 1, AllLines: 2, Free: 1, Whole: 1}}
	})
	with("not compared, with --strict", func(s *regress.Summary) {
		s.Command, s.Verdicts[regress.Identical], s.Masked, s.ExitStatus = "check", 3000, regress.Masked{Cases: 1, Parts: 1, Holes: regress.Holes{Whole: 1}}, 1
	})
	with("interrupted, with differences seen once", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.Interrupted, s.BrokeOff, s.NotRun = "check", 130, true, true, 723
		s.Verdicts[regress.Identical], s.Verdicts[regress.DifferedOnce] = 2000, 277
	})
	with("one case", func(s *regress.Summary) { s.Command, s.Cases, s.Verdicts[regress.Identical] = "check", 1, 1 })
	with("allowed", func(s *regress.Summary) {
		s.Command, s.Verdicts[regress.Identical], s.Verdicts[regress.New] = "check", 2990, 10
	})
	with("stopped by --fail-fast", func(s *regress.Summary) {
		s.Command, s.NotRun, s.ExitStatus = "check", 2900, 1
		s.Verdicts[regress.Identical], s.Verdicts[regress.Changed] = 98, 2
	})
	with("stopped by --fail-fast, what differs allowed", func(s *regress.Summary) {
		s.Command, s.NotRun, s.ExitStatus = "check", 2900, 1
		s.Verdicts[regress.Identical], s.Verdicts[regress.New] = 98, 2
	})
	with("broken off", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.BrokeOff = "compare", 3, true
		s.Verdicts[regress.Identical] = 1
	})
	with("broken off before the first case", func(s *regress.Summary) { s.Command, s.ExitStatus, s.BrokeOff, s.NotRun = "check", 3, true, 3000 })
	with("broken off after the last case", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.Verdicts[regress.Identical] = "check", 3, 3000
	})
	with("broken off, with nothing that was not run", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.BrokeOff, s.Groups = "check", 3, true, 2
		s.Verdicts[regress.EnvironmentFailed], s.Verdicts[regress.Changed] = 20, 2980
	})
	with("broken off by what it was given", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.BrokeOff, s.Verdicts[regress.Changed] = "check", 2, true, 3000
	})
	with("what accept --all leaves out", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.Cases = "check", 1, 63
		s.Verdicts = regress.Verdicts{regress.NewlyTimedOut: 1, regress.NewlyOutOfMemory: 2, regress.NewlyOutputLimited: 4, regress.Crashed: 8, regress.NewlyFailing: 16, regress.Missing: 32}
	})
	with("a new case that crashed", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.Cases, s.Stopped = "check", 1, 63, 1
		s.Verdicts = regress.Verdicts{regress.New: 1, regress.Identical: 62}
	})
	with("missing alone", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.Cases = "check", 1, 5
		s.Verdicts = regress.Verdicts{regress.Missing: 2, regress.Identical: 3}
	})
	with("compare", func(s *regress.Summary) {
		s.Command, s.ExitStatus = "compare", 1
		s.Verdicts[regress.Identical], s.Verdicts[regress.Changed] = 2900, 100
	})
	with("diff", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.Run = "diff", 1, ""
		s.Verdicts[regress.Identical], s.Verdicts[regress.Changed] = 2900, 100
	})
	with("the environment failed", func(s *regress.Summary) {
		s.Command, s.ExitStatus = "check", 3
		s.Verdicts[regress.Identical], s.Verdicts[regress.EnvironmentFailed] = 2900, 100
	})
	with("interrupted", func(s *regress.Summary) {
		s.Command, s.ExitStatus, s.Interrupted, s.BrokeOff, s.NotRun = "check", 130, true, true, 1000
		s.Verdicts[regress.Identical] = 2000
	})
	checkGolden(t, "summaries.txt", []byte(b.String()))
}

type brokenPipe struct{}

var errBroken = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }
func (brokenPipe) Close() error              { return nil }

func TestWriteErrorsAreReturned(t *testing.T) {
	broken, fine := Stream{Writer: brokenPipe{}}, Stream{Writer: io.Discard}
	for name, make := range map[string]func() Reporter{
		"text":     func() Reporter { return NewText(Console{Out: broken, Err: fine}, Normal) },
		"progress": func() Reporter { return NewText(Console{Out: fine, Err: broken}, Normal) },
		"quiet":    func() Reporter { return NewText(Console{Out: broken, Err: fine}, Quiet) },
		"json":     func() Reporter { return NewJSON(Console{Out: broken, Err: fine}, Normal) },
		"tee":      func() Reporter { return Tee{NewText(Console{Out: broken, Err: fine}, Normal), Tee{}} },
		"live": func() Reporter {
			return NewText(Console{Out: fine, Err: Stream{Writer: brokenPipe{}, Terminal: true}, Shared: true}, Normal)
		},
	} {
		var got error
		r := make()
		for _, ev := range checkRun() {
			got = errors.Join(got, r.Handle(ev))
		}
		got = errors.Join(got, r.Close())
		if !errors.Is(got, errBroken) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, err := NewEvents(brokenPipe{}); !errors.Is(err, errBroken) {
		t.Errorf("events: %v", err)
	}
}

// The causes do not lead to cases that no cause explains, so the first of them are listed, however many cases differ.
func TestTextNamesCasesOutsideCauses(t *testing.T) {
	run := withCauses(longRun("check", 3000, 2), 12)
	for i, ev := range run {
		if c, ok := ev.(Case); ok && c.Index >= 1000 && c.Verdict == regress.Changed {
			c.Verdict = regress.Flaky
			run[i] = c
		}
	}
	out, _ := feed(t, run, false, 80, text(Normal))
	if n := strings.Count(out, "\nflaky          src/folder"); n != casesMax || strings.Contains(out, "\nchanged") {
		t.Errorf("%d flaky cases are listed:\n%.2000s", n, out)
	}
	if want := "\n… and 980 more\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%.2000s", want, out)
	}
}
