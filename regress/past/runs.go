package past

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Runs lists the past runs, oldest first.
func Runs(_ context.Context, o regress.Options, h host.Host) error {
	runs, err := state.Open(o.Store.State).Runs()
	if err != nil {
		return err
	}
	for _, r := range runs {
		if err := printRun(h.Stdout, o.Report.Format, r); err != nil {
			return err
		}
	}
	return nil
}

func printRun(w io.Writer, format regress.Format, r *state.Run) error {
	sum, err := keptIn(r)
	if err != nil {
		return err
	}
	if format == regress.JSON {
		return report.EncodeLine(w, runLine{
			"run", r.ID, r.Command, r.Started.UTC(), r.Finished, sum.Interrupted, sum.Cases, sum.NotIdentical, sum.Recorded, sum.Failing, sum.Engine,
		})
	}
	_, err = io.WriteString(w, fmt.Sprintf("%s  %-7s  %s\n", r.ID, r.Command, runText(r, sum)+engineText(sum.Engine)))
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
	return fmt.Sprintf(", on an engine, %s of %s cached", readable.Number(e.Cached), readable.Count(e.Cached+e.Executed, "run"))
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
