package regress

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"muster/regress/internal/fault"
	"muster/regress/internal/state"
)

// Rerun does the last run again, with the options that it had: all of it, or
// only the cases that were not identical. Of o it takes the store, the helper
// and where to report.
func Rerun(ctx context.Context, o Options, failed bool) (Summary, error) {
	last, err := state.Open(o.Store.State).Find("", func(r *state.Run) bool { return r.Command != "compare" })
	if err != nil {
		return Summary{}, err
	}
	again := Options{}
	if err := json.Unmarshal(last.Options, &again); err != nil {
		return Summary{}, fault.Environmentf("options of run %s: %w", last.ID, err)
	}
	again.Report, again.Helper, again.Versions = o.Report, o.Helper, o.Versions
	again.Corpus.Stdin, again.Store.State, again.Store.Resume = o.Corpus.Stdin, o.Store.State, false
	if !failed {
		if last.Command == "record" {
			return Record(ctx, again)
		}
		return Check(ctx, again)
	}
	if last.Command == "record" {
		return Summary{}, fault.Inputf("the last run, %s, was a record: --failed needs a check", last.ID)
	}
	if again.Select.only, err = notIdentical(last); err != nil {
		return Summary{}, err
	}
	if len(again.Select.only) == 0 {
		return Summary{}, fault.Emptyf("run %s had nothing that was not identical", last.ID)
	}
	return Check(ctx, again)
}

// Runs lists the past runs, oldest first.
func Runs(_ context.Context, o Options) error {
	runs, err := state.Open(o.Store.State).Runs()
	if err != nil {
		return err
	}
	for _, r := range runs {
		if err := printRun(o.Report, r); err != nil {
			return err
		}
	}
	return nil
}

func printRun(rep Report, r *state.Run) error {
	var sum Summary
	if r.Summary != nil {
		if err := json.Unmarshal(r.Summary, &sum); err != nil {
			return fault.Environmentf("summary of run %s: %w", r.ID, err)
		}
	}
	if rep.Format == JSON {
		text, err := json.Marshal(map[string]any{
			"type": "run", "run": r.ID, "command": r.Command, "started": r.Started, "finished": r.Finished,
			"cases": sum.Cases, "not_identical": sum.Verdicts.NotIdentical(), "interrupted": sum.Interrupted,
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(rep.Stdout, "%s\n", text)
		return err
	}
	_, err := io.WriteString(rep.Stdout, fmt.Sprintf("%s  %-7s  %s\n", r.ID, r.Command, runText(r, sum)))
	return err
}

func runText(r *state.Run, sum Summary) string {
	switch {
	case !r.Finished && r.Summary == nil:
		return "unfinished"
	case !r.Finished:
		return fmt.Sprintf("interrupted, %d of %d cases not run", sum.NotRun, sum.Cases)
	case r.Command == "record":
		return fmt.Sprintf("%d cases recorded", sum.Recorded)
	}
	return fmt.Sprintf("%d cases, %d not identical", sum.Cases, sum.Verdicts.NotIdentical())
}
