// Package past reads past runs: Runs lists them, Groups prints the causes of a run, Show a cause or a
// case, and Replay the events of a run. The functions whose names end in Completions are for the
// completions of a shell.
//
// Input: the beginning of a run's ID; "" is the last run. Output: a text or JSON on the standard output
// of the host. Error texts say what to do; regress.ClassOf returns the class of an error. The package
// must not run cases, nor write to a golden or a state folder.
package past

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
)

// Runs lists the past runs, oldest first. Then the error names those that cannot be read.
func Runs(_ context.Context, o regress.Options, h host.Host) error {
	runs, unreadable, err := state.List(state.Open(o.Store.State))
	if err != nil {
		return err
	}
	for _, r := range runs {
		sum, damaged := keptIn(r)
		if damaged != nil {
			unreadable = errors.Join(unreadable, damaged)
			continue
		}
		if err := printRun(h.Stdout, o.Report.Format, r, sum); err != nil {
			return err
		}
	}
	return unreadable
}

func printRun(w io.Writer, format regress.Format, r *state.Run, sum state.Summary) error {
	if format == regress.JSON {
		return report.EncodeLine(w, runLine{
			"run", r.ID, r.Command, r.Started.UTC(), r.Finished, sum.Interrupted, sum.Cases, sum.NotIdentical, sum.Recorded, sum.Failing, sum.Engine,
		})
	}
	_, err := io.WriteString(w, fmt.Sprintf("%s  %-7s  %s\n", r.ID, r.Command, runText(r, sum)+engineText(sum.Engine)))
	return err
}

// keptIn returns the summary of a run; the zero Summary if the run has not ended.
func keptIn(r *state.Run) (state.Summary, error) {
	if r.Summary == nil {
		return state.Summary{}, nil
	}
	sum, err := state.Decode[state.Summary](r.Summary)
	if err != nil {
		return sum, fault.Inputf("%s is damaged: its summary of run %s cannot be read; remove %s", r.File("run.json"), r.ID, filepath.Dir(r.File("run.json")))
	}
	return sum, nil
}

// runLine is a past run for scripts. They rely on the keys and their order.
type runLine struct {
	Type         string               `json:"type"`
	Run          string               `json:"run"`
	Command      string               `json:"command"`
	Started      time.Time            `json:"started"`
	Finished     bool                 `json:"finished"`
	Interrupted  bool                 `json:"interrupted"`
	Cases        int                  `json:"cases"`
	NotIdentical int                  `json:"not_identical"`
	Recorded     int                  `json:"recorded"`
	Failing      int                  `json:"failing"`
	Engine       *state.SummaryEngine `json:"engine,omitempty"`
}

// engineText describes the runs on an engine, "" if there were none.
func engineText(e *state.SummaryEngine) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf(", on an engine, %s of %s reused", readable.Number(e.Cached), readable.Count(e.Cached+e.Executed, "run"))
}

func runText(r *state.Run, sum state.Summary) string {
	switch {
	case !r.Finished && r.Summary == nil:
		return "unfinished"
	case !r.Finished && !sum.Interrupted:
		return fmt.Sprintf("broke off, %s of %s not run", readable.Number(sum.NotRun), readable.Cases(sum.Cases))
	case !r.Finished:
		return fmt.Sprintf("interrupted, %s of %s not run", readable.Number(sum.NotRun), readable.Cases(sum.Cases))
	case r.Command == regress.RecordCommand:
		return recordText(sum)
	}
	return fmt.Sprintf("%s, %s not identical", readable.Cases(sum.Cases), readable.Number(sum.NotIdentical))
}

func recordText(sum state.Summary) string {
	switch {
	case sum.Recorded == 0:
		return "none of " + readable.Cases(sum.Cases) + " recorded, every case fails"
	case sum.Failing > 0:
		return fmt.Sprintf("%s recorded, %s failing", readable.Cases(sum.Recorded), readable.Number(sum.Failing))
	}
	return readable.Cases(sum.Recorded) + " recorded"
}

// CaseList says which names Cases returns, and how.
type CaseList struct {
	Raw     bool // not in their printable form
	Failing bool // only cases that did not exit with 0 when they were recorded
}

// Cases returns the names of the cases that a check would run, in corpus order.
func Cases(ctx context.Context, o regress.Options, h host.Host, list CaseList) (names []string, err error) {
	base, err := place.OpenIfAny(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err == nil && base == nil && list.Failing {
		err = place.ExplainMissing(o.Store.Golden, os.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	var recorded *golden.Store
	var meta *golden.Meta
	if base != nil {
		defer func() { err = errors.Join(err, base.Close()) }()
		recorded = base.Store
		m := recorded.Meta()
		meta = &m
	}
	j, err := job.Resolve(o, meta, job.CasesCommand)
	if err != nil {
		return nil, err
	}
	s, err := run.Open(ctx, j, h, recorded)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, e := range s.Inputs.Cases {
		if list.Failing {
			rec, _, err := recorded.Get(e.Name) // of a new case the zero Record, which succeeds
			if err != nil {
				return nil, err
			}
			if rec.Outcome.Ending.Success() {
				continue
			}
		}
		if list.Raw {
			names = append(names, e.Name)
		} else {
			names = append(names, name.Print(e.Name))
		}
	}
	return names, nil
}

// A Completion is a word that a shell completes, with its description.
type Completion struct{ Word, Text string }

// DifferingCompletions returns the cases that were not identical in a past run, in printed form.
// A case whose name looks like the ID of a cause is named ./G1. An empty id means the last run.
func DifferingCompletions(o regress.Options, h host.Host, id string) ([]Completion, error) {
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return nil, err
	}
	list := make([]Completion, len(p.Run.Results))
	for i, r := range p.Run.Results {
		word := name.Typed(string(r.Name))
		if pastrun.IsCauseID(word) {
			word = "./" + word
		}
		list[i] = Completion{Word: word}
	}
	return list, nil
}

// CauseCompletions returns the causes of a past run. An empty id means the last run.
func CauseCompletions(o regress.Options, h host.Host, id string) (list []Completion, err error) {
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return nil, err
	}
	found, err := p.Run.CausesIfAny()
	if err != nil || found == nil {
		return nil, err
	}
	for _, c := range found.Causes {
		list = append(list, Completion{c.ID, c.Name})
	}
	return list, nil
}

// RunCompletions returns the past runs, the last one first. Without withRecords it returns only those
// that have differences.
func RunCompletions(o regress.Options, withRecords bool) (list []Completion, err error) {
	runs, err := state.Open(o.Store.State).Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if !state.IsCheck(r) && !(withRecords && r.Command == regress.RecordCommand) {
			continue
		}
		sum, err := keptIn(r)
		if err != nil {
			return nil, err
		}
		list = append([]Completion{{name.Print(r.ID), r.Command + " " + runText(r, sum)}}, list...)
	}
	return list, nil
}
