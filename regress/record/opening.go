package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/sample"
	"os"
)

// durationsOf returns how long the cases took by the golden that is replaced, if there is one. It
// refuses a selection that would drop cases from that golden.
func durationsOf(ctx context.Context, into place.Place, s *run.Run) (pass.Durations, error) {
	none := make(pass.Durations, len(s.Inputs.Cases))
	old, err := into.Open(ctx)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return none, nil
	case regress.ClassOf(err) == regress.Input:
		s.Events.Warn(fmt.Sprintf("%v: it will be replaced", err)) // damaged, or empty
		return none, nil
	case err != nil:
		return nil, err
	}
	defer old.Close()
	selected := make(map[string]bool, len(s.Inputs.Cases))
	for _, e := range s.Inputs.Cases {
		selected[e.Name] = true
	}
	lost := 0
	for _, e := range s.Inputs.Corpus.Cases() {
		if _, known := old.OutcomeDigest(e.Name); known && !selected[e.Name] {
			lost++
		}
	}
	if lost > 0 {
		return nil, fault.Inputf("%s has %s that this selection leaves out, and recording would drop: name another --golden, or record without a selection", s.Job.Store.Golden, readable.Cases(lost))
	}
	return s.Inputs.Durations(old.Wall), nil
}

// begin starts the run and opens the new golden, or the one that --resume goes on with.
func begin(ctx context.Context, s *run.Run, into place.Place, took pass.Durations) (p *passes, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Drop())
		}
	}()
	if err := s.Execution.Start(ctx, s.Setup()); err != nil {
		return nil, err
	}
	if err := run.ObserveTool(ctx, s); err != nil {
		return nil, err
	}
	id, err := s.Identity(ctx)
	if err != nil {
		return nil, err
	}
	id["--repeat"] = fmt.Sprint(s.Job.Judge.Repeat)
	id["--golden"] = s.Job.Store.Golden
	into.Identify(id)
	maps.Copy(id, s.Execution.Crew.Account().Identity)
	if err := s.Begin(id, outcome.Digest{}); err != nil {
		return nil, err
	}
	w, err := openWriter(ctx, s, into)
	if err != nil {
		return nil, err
	}
	p = &passes{run: s, writer: w, cases: newCases(took, s.Resumed || s.Job.Judge.Repeat > 1), failing: failures{run: s, writer: w}}
	if s.Resumed {
		if _, err = p.cases.readRuns(&s.Job, s.Comparer, w, s.Inputs.Tasks()); err == nil {
			err = repeatFinished(ctx, s, w, p.cases)
		}
	}
	rest := s.Inputs.Tasks()
	if err == nil && s.Resumed {
		rest, err = p.cases.readRuns(&s.Job, s.Comparer, w, rest)
	}
	if err != nil {
		return nil, errors.Join(err, w.Abort(true))
	}
	p.reportStart(rest)
	return p, nil
}

// reportStart reports the start of a run in which these cases have no runs yet.
func (p *passes) reportStart(rest []pass.Task) {
	s := p.run
	s.Events.Emit(report.Started{
		Command: s.Job.Name, Run: s.Folder.ID, Corpus: s.Job.Corpus.Path, Folder: s.Inputs.Corpus.Root() != "", Tool: job.CommandLine(&s.Job.Command), Cases: len(s.Inputs.Cases), Jobs: s.Width().Jobs,
		Resumed: len(s.Inputs.Cases) - len(rest), Expected: p.cases.due.Sum(rest), At: s.Began,
	})
}

// openWriter begins the new golden, or continues the unfinished one of the resumed run. It
// discards the unfinished golden of any other run.
func openWriter(ctx context.Context, s *run.Run, into place.Place) (*golden.Writer, error) {
	m, err := s.Meta(ctx)
	if err != nil {
		return nil, err
	}
	if s.Resumed {
		if err := into.Reopen(s.Folder.ID); err != nil {
			return nil, err
		}
		w, err := golden.Resume(into.Path())
		switch {
		case err == nil && w.Meta().Run == s.Folder.ID:
			return w, nil
		case err == nil:
			if err := w.Abort(true); err != nil {
				return nil, err
			}
			s.Events.Warn(fmt.Sprintf("--resume: another run has begun %s since: this one begins again", s.Job.Store.Golden))
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	m.Selection = job.KeptSelection(&s.Job.Select)
	w, err := golden.Create(into.Path(), m)
	if err != nil {
		return nil, err
	}
	if err := w.PutShared(s.Inputs.Digests.Shared()); err != nil {
		return nil, errors.Join(err, w.Abort(false))
	}
	return w, nil
}

// repeatFinished runs a sample of the finished cases again, and refuses to resume if one has
// another outcome now. If all cases have their runs, it does nothing.
func repeatFinished(ctx context.Context, s *run.Run, w *golden.Writer, cases *cases) error {
	var finished []pass.Task
	left := false
	for _, t := range s.Inputs.Tasks() {
		had := cases.before(t.Index)
		left = left || had.lacks(s.Job.Judge.Repeat)
		if had.runs > 0 {
			finished = append(finished, t)
		}
	}
	if !left || s.Execution.Crew.IsRemote() {
		return nil
	}
	again := run.NewSample(s, regress.RetriesDefault)
	return again.Repeat(ctx, finished, func(ctx context.Context, t pass.Task) (bool, error) {
		rec, _, err := w.Get(t.Entry.Name)
		if err != nil {
			return false, err
		}
		return again.IsMet(ctx, sample.Expectation{Task: t, Command: s.Execution.Commands.For(t.Entry.Name), Was: rec.Outcome, Open: keep.ContentsIn(w)})
	})
}
