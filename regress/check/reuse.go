package check

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"syscall"

	"muster/internal/wording"
	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/reuse"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
	"muster/regress/internal/verdict"
)

// reuser lets a check take outcomes of earlier checks, and keeps its own for later ones. A nil
// *reuser does nothing.
type reuser struct {
	run      *run.Run
	base     *golden.Store
	flag     string // the flag that asked for reuse
	numbers  int    // runs of a case that differs
	earlier  earlier
	cases    map[string]reuse.Case // of earlier checks, but for those that do not count any more
	executor *reuse.Executor
	stores   map[string]*golden.Store // of earlier runs, as the entries name them
	tool     *closure.Closure         // when outcomes were taken
}

// earlier is where a check finds what earlier checks left, and leaves its own. One goroutine calls its
// methods, in the order in which they stand here.
type earlier interface {
	// recall returns what checks of a setting left, or why that does not count.
	recall(ctx context.Context, setting map[string]string) (cases map[string]reuse.Case, why string)
	// open opens the outcomes that entries name, as far as they are still there.
	open(ctx context.Context, cases map[string]reuse.Case) (map[string]*golden.Store, error)
	// hides reports whether an outcome must stay on this machine.
	hides(*exec.Result) bool
	// leave replaces what was left under the setting. distrust says that the entries of earlier checks were
	// wrong.
	leave(ctx context.Context, cases map[string]reuse.Case, distrust bool) error
	// drop removes what was left under the setting.
	drop() error
	close()
}

// newReuser finds what earlier checks left, and puts its executor before that of the run. It returns
// nil where nothing can be reused or kept. measured has the indexes of the cases
// that run beside another command.
func newReuser(ctx context.Context, r *run.Run, base *golden.Store, measured map[int]bool) (*reuser, error) {
	u := &reuser{run: r, base: base, flag: job.ReuseFlag(&r.Job.Store), numbers: 1 + r.Job.Judge.Retries}
	if why := r.Tool.Unseen(); why != "" {
		r.Events.Warn(u.everyCaseRuns(why))
		return nil, nil
	}
	if r.Job.Store.Resume {
		if last, err := r.State.Unfinished(r.Job.Name); err != nil || last != nil {
			r.Events.Note(u.flag + ": the cases that are left run, as a run is resumed")
			return nil, err
		}
	}
	if err := r.Inputs.ReadDigests(ctx); err != nil {
		return nil, err
	}
	if r.Job.Store.Reuse {
		u.earlier = &localChecks{run: r}
	} else if shared, err := dialChecks(ctx, r); shared == nil {
		return nil, err
	} else {
		u.earlier = shared
	}
	u.executor = reuse.New(r.Execution.Executor, u.find)
	u.executor.Hides = u.earlier.hides
	r.Execution.Executor = u.executor
	var why string
	if u.cases, why = u.earlier.recall(ctx, u.setting()); why != "" {
		r.Events.Note(u.everyCaseRuns(why))
	}
	if len(u.cases) == 0 {
		return u, nil
	}
	u.tool = r.Tool.Closure()
	return u, u.choose(ctx, measured)
}

func (u *reuser) everyCaseRuns(why string) string { return u.flag + ": every case runs, as " + why }

// setting returns everything that an outcome depends on beside its source and the tool.
func (u *reuser) setting() map[string]string {
	o, setting := &u.run.Job.Options, reuse.Machine()
	maps.Copy(setting, job.OutcomeFlags(o))
	u.run.Execution.Commands.Identify(setting)
	setting["PATH"] = os.Getenv("PATH")
	setting["what --pass-env passes"] = job.DigestPassed(&o.Command).String()
	setting["--observe"] = string(o.Command.Observe)
	setting["the lanes"], setting["the version"] = u.run.Execution.Crew.Account().LaneKind, o.Version
	if len(o.Helper) > 0 {
		helper, _ := filedigest.Open(filepath.Join(u.run.State.Cache(), "helper-digest.json")).Of(o.Helper[0], 1<<30) // zero is one, too
		setting["muster"] = helper.Hash.String()
	}
	for path, digest := range u.run.Inputs.Digests.Shared() {
		setting["shared file "+path] = digest.String()
	}
	return setting
}

// choose finds the cases that can be reused, and those of them that must run first.
func (u *reuser) choose(ctx context.Context, measured map[int]bool) error {
	wanted := map[string]reuse.Case{}
	for i, e := range u.run.Inputs.Cases {
		c, ok := u.cases[e.Name]
		if ok && !measured[i] && c.Source == u.run.Inputs.Digests.Case(e.Name) && !u.base.Flaky(e.Name) && c.HasOutcome() && c.Runs >= u.runsOf(e.Name, c.Outcome) {
			wanted[e.Name] = c
		}
	}
	var err error
	lacking := maps.Clone(wanted)
	maps.DeleteFunc(lacking, func(caseName string, c reuse.Case) bool { return u.storeOf(caseName, c) != nil })
	if u.stores, err = u.earlier.open(ctx, lacking); err != nil {
		return err
	}
	maps.DeleteFunc(wanted, func(caseName string, c reuse.Case) bool { return u.storeOf(caseName, c) == nil })
	u.executor.Know(wanted, u.run.Tool.IsExpected)
	return nil
}

// runsOf returns how many runs a case takes that always has an outcome.
func (u *reuser) runsOf(caseName string, is outcome.Digest) int {
	runs := max(1, u.run.Job.Judge.Runs)
	if was, known := u.base.OutcomeDigest(caseName); known && was == is {
		return runs
	}
	return max(runs, u.numbers)
}

// storeOf returns the store that has the outcome of an entry, or nil.
func (u *reuser) storeOf(caseName string, c reuse.Case) *golden.Store {
	for _, s := range []*golden.Store{u.base, u.stores[c.Run]} {
		if s == nil {
			continue
		}
		if digest, known := s.OutcomeDigest(caseName); known && digest == c.Outcome {
			return s
		}
	}
	return nil
}

// find returns the outcome of an entry as a result, or nil. Its cost is known only from a run.
func (u *reuser) find(caseName string, c reuse.Case) *exec.Result {
	s := u.storeOf(caseName, c)
	if s == nil {
		return nil
	}
	rec, known, err := s.Get(caseName)
	if err != nil || !known || rec.Outcome.Digest() != c.Outcome || s != u.base && !isOfOneRun(&rec.Outcome, u.run.Job.Limits.OutputMax) {
		return nil
	}
	var contents []exec.Content
	for p := range golden.WithContent(&rec.Outcome) {
		if s != u.base && !isWhole(s, p) {
			return nil
		}
		contents = append(contents, exec.Content{Key: p.Key, Opener: func() (io.ReadCloser, error) { return s.Content(p) }})
	}
	if s == u.base {
		rec.Cost = outcome.Cost{}
	}
	return exec.NewResult(rec.Outcome, rec.Cost, exec.NoLane, contents, nil)
}

// isOfOneRun reports whether one complete run with this limit can have left an outcome. So a store of others makes
// a check read no more than a run could write.
func isOfOneRun(o *outcome.Outcome, outputMax int64) bool {
	for _, p := range o.Parts {
		if outputMax -= p.Size; p.Size < 0 || outputMax < 0 {
			return false
		}
	}
	return !o.Flaky() && !o.Ending.Partial()
}

// isWhole reports whether a store has a content undamaged.
func isWhole(s *golden.Store, p outcome.Part) bool {
	r, err := s.Content(p)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
		err = errors.Join(err, r.Close())
	}
	return err == nil
}

// runFirst makes the first runs of all tasks: first those of the cases that guard the others.
func (u *reuser) runFirst(ctx context.Context, loop *verdict.Loop, tasks []pass.Task) error {
	if u == nil {
		return loop.RunFirst(ctx, tasks)
	}
	guard, others := pass.Split(tasks, func(t pass.Task) bool { return u.executor.IsGuarded(t.Entry.Name) })
	if err := loop.RunFirst(ctx, guard); err != nil {
		return err
	}
	why := u.run.Tool.Unseen()
	if why == "" && u.hasGrown() {
		why = "the tool uses files that the earlier check did not know"
	}
	if why != "" {
		u.forget(u.everyCaseRuns(why), u.run.Events.Note)
	} else if m := u.executor.Answer(); m != nil {
		u.forget(u.flag+": "+describeMismatch(m), u.run.Events.Warn)
		u.run.Ledger.Summary.NotReused = m.Case
	}
	return loop.RunFirst(ctx, others)
}

// hasGrown reports whether the tool uses more than what the outcomes of the earlier check are for. If every
// case was observed, other cases use more now.
func (u *reuser) hasGrown() bool {
	return u.run.Job.Command.Observe != regress.ObserveAll && u.run.Tool.Closure() != u.tool
}

// forget drops the outcomes of earlier checks, and reports why if there were any. The cases that varied
// are still known.
func (u *reuser) forget(why string, report func(string)) {
	n := len(u.cases)
	maps.DeleteFunc(u.cases, func(_ string, c reuse.Case) bool { return c.HasOutcome() })
	if len(u.cases) < n {
		report(why)
	}
}

func describeMismatch(m *reuse.Mismatch) string {
	parts := "it could not run"
	if len(m.Parts) > 0 {
		parts = "another outcome, in " + name.List(m.Parts, namedPartsMax) + ": the tool depends on something that muster does not see"
	}
	of := ""
	if m.Maker != "" {
		of = " on " + name.Print(m.Maker)
	}
	return name.Print(m.Case) + ", which ran again to guard the others, has not the outcome of the earlier check" + of + " (" + parts + "); nothing is reused, and every case runs"
}

// namedPartsMax bounds the parts that a warning names.
const namedPartsMax = 5

// keep returns what later checks can reuse of this one. Call it when all cases have their verdicts,
// before the stores of the run end.
func (u *reuser) keep(loop *verdict.Loop, found *keep.Store) (cases map[string]reuse.Case, err error) {
	if u == nil {
		return nil, nil
	}
	if u.hasGrown() {
		u.forget(u.flag+": the tool uses files that the earlier check did not know: the reused cases run in the next check", u.run.Events.Note)
	}
	cases = map[string]reuse.Case{}
	for _, e := range u.run.Inputs.Corpus.Cases() {
		if c, known := u.cases[e.Name]; known {
			cases[e.Name] = c // unless the case ran now
		}
	}
	results := map[string]state.Result{}
	for _, r := range u.run.Ledger.Results() {
		results[string(r.Name)] = r
	}
	for i, e := range u.run.Inputs.Cases {
		if !loop.IsDecided(i) {
			continue
		}
		was, known := cases[e.Name]
		delete(cases, e.Name)
		c, ok, err := u.entryOf(e.Name, results, found)
		switch {
		case err != nil:
			return nil, err
		case known && !was.HasOutcome() && was.Source == c.Source:
			cases[e.Name] = was
		case ok:
			cases[e.Name] = c
		}
	}
	return cases, nil
}

// entryOf returns the entry of a case of this run, or false for one that has none.
func (u *reuser) entryOf(caseName string, results map[string]state.Result, found *keep.Store) (c reuse.Case, ok bool, err error) {
	c = u.executor.Gave(caseName)
	if _, known := u.cases[caseName]; c.Runs > 0 && !known {
		return c, false, nil // it is forgotten
	}
	c.Source, c.Runs = u.run.Inputs.Digests.Case(caseName), max(1, c.Runs, u.run.Job.Judge.Runs)
	result, differs := results[caseName]
	switch {
	case caseName == u.run.Ledger.Summary.NotReused, result.Unstable, result.Verdict == regress.Flaky:
		return reuse.Case{Source: c.Source}, true, nil
	case !c.HasOutcome(), u.base.Flaky(caseName), u.run.Tool.IsUnlike(caseName):
		return c, false, nil
	case !differs:
		was, known := u.base.OutcomeDigest(caseName)
		return c, known && was == c.Outcome, nil
	}
	rec, stored, err := found.Get(caseName)
	c.Runs, c.Run = rec.Runs, u.run.Folder.ID
	return c, stored && !rec.Outcome.Flaky() && rec.Outcome.Digest() == c.Outcome && rec.Outcome.Ending != killed, err
}

// killed is how a case ends that the system kills, such as when the memory of the machine is full.
var killed = regress.Ending{Kind: regress.Signalled, Code: int(syscall.SIGKILL)}

// write leaves the cases for later checks, once the run has ended well. touched says that the corpus was
// written to meanwhile. A failure is no failure of the check.
func (u *reuser) write(ctx context.Context, cases map[string]reuse.Case, touched bool) {
	if u == nil {
		return
	}
	why := cmp.Or(u.run.Tool.Unseen(), u.run.Tool.Touched())
	if why == "" && touched {
		why = "the corpus was written to while it ran"
	}
	var err error
	if why == "" {
		err = u.earlier.leave(ctx, cases, u.run.Ledger.Summary.NotReused != "")
	} else {
		err = u.earlier.drop()
	}
	if err != nil {
		why = wording.Of(err)
	}
	if why != "" {
		u.run.Events.Warn(u.flag + ": later checks cannot reuse this one: " + why)
	}
}

func (u *reuser) close() (err error) {
	if u == nil {
		return nil
	}
	for _, s := range u.stores {
		err = errors.Join(err, s.Close())
	}
	u.earlier.close()
	return err
}
