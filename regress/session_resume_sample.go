package regress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"muster/internal/readable"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
)

// A resumed run repeats one in samplePart of the finished cases, and at least sampleMin.
// muster guesses the files of the tool, so a changed tool may have the same files. The
// sample detects that.
const (
	samplePart = 100 // 1 %
	sampleMin  = 3
)

// sampleNamesMax bounds the cases that an error names.
const sampleNamesMax = 10

// sample has the new runs of finished cases. It stores the runs of cases that vary in a store
// of its own. They join the resumed run if that goes on. Several goroutines may call its
// methods.
type sample struct {
	session              *session
	candidate, reference *keep.Store // of the cases that vary

	mu     sync.Mutex
	varied []string // names
	others []string // names of cases with another outcome
}

// expectation is the outcome that a command gave for a finished case.
type expectation struct {
	task    pass.Task
	command *exec.Command
	was     outcome.Outcome
	open    content.Opener
	kept    *keep.Store // of the sample, for the command's new runs
	// stable reports that the outcome does not vary. Otherwise a part may differ if it also
	// varies among the new runs.
	stable bool
	// compare compares a run with what the run that is resumed compares it with.
	compare func(*exec.Result) (keep.Likeness, error)
}

func (s *session) newSample(m golden.Meta) *sample {
	made := func(name string) *keep.Store { return &keep.Store{Path: s.run.File(name), Meta: m} }
	return &sample{session: s, candidate: made("sample.golden"), reference: made("sample-references.golden")}
}

// drop removes what the sample keeps.
func (m *sample) drop() error { return errors.Join(m.candidate.Drop(), m.reference.Drop()) }

// sampleOf picks tasks at random.
func sampleOf(finished []pass.Task) []pass.Task {
	n := max(sampleMin, (len(finished)+samplePart-1)/samplePart)
	picked := slices.Clone(finished)
	rand.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked[:min(n, len(picked))]
}

// repeatSample runs a sample of the finished cases again. It refuses to resume the run if
// same returns false for one of them. If it does not refuse, it calls join for each case that
// varies: all of them, also after an interrupt. On an engine it does nothing: the preflight
// detects another tool.
func (s *session) repeatSample(
	ctx context.Context, finished []pass.Task, retries int, m golden.Meta,
	same func(context.Context, *sample, pass.Task) (bool, error), join func(context.Context, *sample, string) error,
) (err error) {
	if len(finished) == 0 || s.crew.IsRemote() {
		return nil
	}
	picked, again := sampleOf(finished), s.newSample(m)
	defer func() { err = errors.Join(err, again.drop()) }()
	s.events.Note(fmt.Sprintf("--resume: %s of %s run again, to check that the tool is the same", readable.Number(len(picked)), readable.Count(len(finished), "finished case")))
	err = pass.ForEach(ctx, s.goroutines(), picked, func(handing context.Context, t pass.Task) error {
		if handing.Err() != nil {
			return nil
		}
		ok, err := same(ctx, again, t) // a lane dies with the context of its last run: handing ends here
		if err == nil && !ok {
			again.mu.Lock()
			defer again.mu.Unlock()
			again.others = append(again.others, t.Entry.Name)
		}
		return err
	})
	switch {
	case ctx.Err() != nil:
		return fault.Interruptedf("interrupted while finished cases ran again: the run is as it was; --resume goes on")
	case err != nil:
		return err
	case len(again.others) > 0:
		return refuseOtherOutcomes(again.others, s.run.ID, retries)
	}
	for _, name := range again.varied {
		if err := join(context.WithoutCancel(ctx), again, name); err != nil {
			return err
		}
	}
	return nil
}

func refuseOtherOutcomes(names []string, run string, retries int) error {
	slices.Sort(names)
	return fault.Inputf("--resume: something that the tool depends on changed since run %s: another outcome in %s (%s each): run without --resume", run, name.List(names, sampleNamesMax), readable.Count(1+retries, "run"))
}

// meets reports whether a command still gives the expected outcome. One of the new runs must
// give it, or all differences must lie in parts that vary among the new runs. The sample
// keeps the new runs if the case varies.
func (m *sample) meets(ctx context.Context, e expectation, retries int) (bool, error) {
	for n := range 1 + retries {
		// The first run of a case that does not vary says nothing new if it is as before.
		same, err := m.once(ctx, e, n == 0 && (e.stable || !e.was.Flaky()))
		if err != nil || same {
			return same, err
		}
	}
	if e.stable {
		return false, nil
	}
	rec, _, err := e.kept.Get(e.task.Entry.Name)
	if err != nil {
		return false, err
	}
	cmp, err := outcome.Compare(&e.was, &rec.Outcome, m.session.comparer.Same(e.open, e.kept.Content))
	return cmp.Identical(), err
}

// once makes a new run and reports whether it is as expected. So is a run that a limit ended
// if the same limit ended an earlier run. If plain is set, the sample does not keep a run that
// is as expected.
func (m *sample) once(ctx context.Context, e expectation, plain bool) (same bool, err error) {
	r, err := m.session.runUnjudged(ctx, e.task, e.command)
	if err != nil {
		return false, err
	}
	defer r.Release()
	is, err := keep.Compare(&e.was, &r.Outcome, m.session.comparer.Same(e.open, r.Open))
	if same = is != keep.Unlike; err != nil || same && plain {
		return same, err
	}
	l, err := e.compare(r)
	if err != nil {
		return false, err
	}
	return same, m.keep(ctx, e.kept, e.task.Entry.Name, r, l)
}

// keep adds a run to what the sample keeps of a case.
func (m *sample) keep(ctx context.Context, in *keep.Store, name string, r *exec.Result, l keep.Likeness) error {
	m.mu.Lock()
	if !slices.Contains(m.varied, name) {
		m.varied = append(m.varied, name)
	}
	m.mu.Unlock()
	_, stored, err := in.Get(name)
	switch {
	case err != nil:
		return err
	case stored:
		return in.Merge(ctx, name, r, l, m.session.comparer.Same)
	}
	return in.Put(ctx, name, r, l)
}

// runUnjudged runs a case without giving it a verdict.
func (s *session) runUnjudged(ctx context.Context, t pass.Task, c *exec.Command) (*exec.Result, error) {
	return s.executor.Run(ctx, exec.Job{Source: *t.Entry, Command: c, Avoid: exec.NoLane, Fresh: true})
}
