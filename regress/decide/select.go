package decide

import (
	"context"
	"slices"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/state"
)

// AcceptOptions selects the differences of a check that become part of the golden.
type AcceptOptions struct {
	Names []string // printed names, or IDs of causes: G1
	// Families are names of families whose causes are accepted, without the buckets among them.
	Families []string
	Bucket   bool     // with Names and Families: also causes that are buckets
	All      bool     // all differences, but see Failing and Missing
	Failing  bool     // with All: also cases that crashed, failed newly or reached a limit
	Missing  bool     // with All: also drop cases that the corpus no longer has
	Globs    []string // only cases that match one; nil = all. Without Names they imply All
	DryRun   bool     // only print what would be done
	Reason   string   // kept in the golden
	Golden   string   // file or address; "" = the golden of the check
	Run      string   // ID of a check, or its beginning; "" = the last
	// KeepCommand keeps the golden's command, even if a check of the run's command would be identical
	// from now on.
	KeepCommand bool
}

// reasonMax is the length of the longest reason, in bytes.
const reasonMax = 4096

// complete makes globs alone imply All, and refuses contradictions.
func (a *AcceptOptions) complete() error {
	isNamed := len(a.Names)+len(a.Families) > 0
	a.All = a.All || !isNamed && len(a.Globs) > 0
	if a.All == isNamed {
		return fault.Inputf("accept wants the names of cases, causes such as G1, --family NAME, --cases GLOB or --all")
	}
	if a.Bucket && !isNamed {
		return fault.Inputf("--bucket goes with causes such as G1 or with --family NAME: --all and --cases take cases, whatever their causes")
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

	members []cause.Cause // what --family selects
	buckets []string      // IDs of buckets that --family leaves out
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
		if err := s.addNamed(ctx, run, word, a.Bucket); err != nil {
			return s, err
		}
	}
	return s, s.addFamilies(run, a)
}

// addFamilies adds the causes of families. Buckets are added only if the accept says so.
func (s *selection) addFamilies(run *pastrun.Run, a *AcceptOptions) error {
	if len(a.Families) == 0 {
		return nil
	}
	found, err := run.Causes()
	if err != nil {
		return err
	}
	var all []string
	for _, c := range found.Causes {
		if c.Family != "" && !slices.Contains(all, c.Family) {
			all = append(all, c.Family)
		}
	}
	for _, family := range a.Families {
		if !slices.Contains(all, family) {
			return fault.Inputf("run %s has no family %s%s: muster groups --by family lists them", run.ID, name.Quote(family), name.Near(family, all))
		}
	}
	for _, c := range found.Causes {
		switch {
		case !slices.Contains(a.Families, c.Family):
		case c.Bucketed() > 0 && !a.Bucket:
			s.buckets = append(s.buckets, c.ID)
		default:
			s.causes[c.ID] = true
			s.members = append(s.members, c)
		}
	}
	return nil
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

// addNamed adds a cause or a case. It refuses a bucket unless buckets are wanted.
func (s *selection) addNamed(ctx context.Context, run *pastrun.Run, word string, buckets bool) error {
	t, err := run.FindTarget(ctx, word)
	switch {
	case err != nil:
		return err
	case t.Cause != nil && t.Cause.Bucketed() > 0 && !buckets:
		return fault.Inputf("%s is a bucket: it stands for %s that were folded into it. muster show %s lists them; to accept all of them, add --bucket", word, readable.Count(t.Cause.Bucketed(), "cause"), word)
	case t.Cause != nil:
		s.causes[t.Cause.ID] = true
	case t.Result.Verdict == regress.EnvironmentFailed:
		return fault.Inputf("%s was not judged, the machine failed: run it again with muster rerun --failed", word)
	case s.matches(string(t.Result.Name)):
		s.cases[string(t.Result.Name)] = true
	}
	return nil
}
