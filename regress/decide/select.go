package decide

import (
	"context"
	"slices"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/state"
)

// AcceptOptions selects the differences of a check that become part of the golden.
type AcceptOptions struct {
	Names   []string // printed names, or IDs of causes: G1
	All     bool     // all differences, but see Failing and Missing
	Failing bool     // with All: also cases that crashed, failed newly or reached a limit
	Missing bool     // with All: also drop cases that the corpus no longer has
	Globs   []string // only cases that match one; nil = all. Without Names they imply All
	DryRun  bool     // only print what would be done
	Reason  string   // kept in the golden
	Golden  string   // file or address; "" = the golden of the check
	Run     string   // ID of a check, or its beginning; "" = the last
	// KeepCommand keeps the golden's command, even if a check of the run's command would be identical
	// from now on.
	KeepCommand bool
}

// reasonMax is the length of the longest reason, in bytes.
const reasonMax = 4096

// complete makes globs alone imply All, and refuses contradictions.
func (a *AcceptOptions) complete() error {
	a.All = a.All || len(a.Names) == 0 && len(a.Globs) > 0
	if a.All == (len(a.Names) > 0) {
		return fault.Inputf("accept wants the names of cases, causes such as G1, --cases GLOB or --all")
	}
	if n := len(a.Reason); n > reasonMax {
		return fault.Inputf("the reason has %s bytes, more than %s: give a shorter one", readable.Number(n), readable.Number(reasonMax))
	}
	return nil
}

// selection is what an accept names.
type selection struct {
	causes map[string]bool         // by ID
	cases  map[string]bool         // by name; they go into the golden whatever their causes
	only   *glob.Set               // of names, for cases of causes too; nil = all
	left   map[regress.Verdict]int // how many cases --all leaves out
}

func (s *selection) matches(caseName string) bool { return s.only == nil || s.only.Match(caseName) }

// selectCases selects the causes and cases of a run that an accept names.
func selectCases(ctx context.Context, run *pastrun.Run, a *AcceptOptions) (s selection, err error) {
	s = selection{causes: map[string]bool{}, cases: map[string]bool{}, left: map[regress.Verdict]int{}}
	if len(a.Globs) > 0 {
		if s.only, err = compileGlobs(run, a.Globs); err != nil {
			return s, err
		}
	}
	if a.All {
		s.addAll(run, a)
		return s, nil
	}
	for _, word := range a.Names {
		if err := s.addNamed(ctx, run, word); err != nil {
			return s, err
		}
	}
	return s, nil
}

// compileGlobs compiles globs. It refuses globs that match no case of the run.
func compileGlobs(run *pastrun.Run, globs []string) (*glob.Set, error) {
	only, err := glob.Compile(globs...)
	if err != nil {
		return nil, fault.Inputf("--cases: %w", err)
	}
	if !slices.ContainsFunc(run.Results, func(r state.Result) bool { return only.Match(string(r.Name)) }) {
		return nil, fault.Emptyf("--cases %s: no case that differs in run %s matches: muster groups lists the differences", name.QuoteAll(globs), run.ID)
	}
	return only, nil
}

// addAll adds all cases that --all includes, and counts the others.
func (s *selection) addAll(run *pastrun.Run, a *AcceptOptions) {
	for i := range run.Results {
		switch r := &run.Results[i]; {
		case !s.matches(string(r.Name)):
		case r.Accepted, a.includes(r):
			s.cases[string(r.Name)] = true
		default:
			s.left[r.Verdict]++
		}
	}
}

// includes reports whether --all includes a result.
func (a *AcceptOptions) includes(r *state.Result) bool {
	if r.Stopped && !a.Failing {
		return false // even if it is new or flaky
	}
	switch r.Verdict {
	case regress.EnvironmentFailed:
		return false
	case regress.NewlyTimedOut, regress.NewlyOutOfMemory, regress.NewlyOutputLimited, regress.Crashed, regress.NewlyFailing:
		return a.Failing
	case regress.Missing:
		return a.Missing
	}
	return true
}

// addNamed adds a cause or a case.
func (s *selection) addNamed(ctx context.Context, run *pastrun.Run, word string) error {
	t, err := run.FindTarget(ctx, word)
	switch {
	case err != nil:
		return err
	case t.Cause != nil:
		s.causes[t.Cause.ID] = true
	case t.Result.Verdict == regress.EnvironmentFailed:
		return fault.Inputf("%s was not judged, the machine failed: run it again with muster rerun --failed", word)
	case s.matches(string(t.Result.Name)):
		s.cases[string(t.Result.Name)] = true
	}
	return nil
}
