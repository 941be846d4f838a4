package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/run"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// newMeasurement prepares to measure what the change costs. It refuses a --fail-on that could not
// be decided. On an engine it does not call findRival.
func newMeasurement(r *run.Run, base verdict.Baseline, findRival func() turns.Rival) (*turns.Measurement, error) {
	limits, err := job.ParseCostLimits(&r.Job.Judge)
	if err != nil {
		return nil, err
	}
	o := turns.Options{
		Limits: limits, CostCases: r.Job.Judge.CostCases, FailFast: r.Job.Select.FailFast > 0, Lanes: r.Job.Limits.Jobs,
		FirstPass: 2 + r.Job.Judge.Retries, Began: r.Began, Get: base.Get, Command: r.Execution.Commands.For,
		Sink: turns.Sink{Emit: r.Events.Emit, AddCPU: func(used time.Duration) { r.Ledger.Summary.CPU += used }},
	}
	if r.Execution.Crew.IsRemote() {
		if on := r.Job.Judge.FailOn; len(on) > 0 {
			return nil, fault.Inputf("--fail-on %s: the workers of an engine differ, so the cost of a change cannot be measured there: leave --fail-on out, or run without --remote", on[0])
		}
		o.Rival = turns.Rival{Elsewhere: true, Why: "the workers of an engine differ, so the cost of a change is not measured there"}
	} else {
		o.Rival = findRival()
	}
	return turns.New(o)
}

// findRecordedRival finds the command with which a check compares the cost of its own.
func findRecordedRival(r *run.Run, recorded golden.Meta) turns.Rival {
	now := turns.Candidate{Tool: r.Tool.Closure(), OtherEnv: job.OtherEnvironment(recorded.Flags, job.OutcomeFlags(&r.Job.Options))}
	if len(r.Execution.Commands.ByGlob) == 0 {
		now.Command = r.Execution.Commands.Main
	}
	return turns.CostRival(recorded, now)
}

// reportCost measures and reports what the change costs. Every case needs its verdict before. If
// the machine failed for one of them, reportCost does nothing.
func reportCost(ctx context.Context, r *run.Run, costs *turns.Measurement) error {
	sum := &r.Ledger.Summary
	if r.Job.Judge.CostCases == 0 || sum.Verdicts[regress.EnvironmentFailed] > 0 {
		return nil
	}
	measured, err := costs.Measure(ctx)
	if err != nil {
		return err
	}
	sum.Over = measured.Over
	r.Events.Emit(measured)
	if job.ExitStatus(&r.Job.Options, *sum, regress.None) != regress.StatusClean {
		return nil // the check fails in any case
	}
	return costs.RefuseUndecided(measured)
}

func warnFailing(r *run.Run) {
	r.Events.Warn(fmt.Sprintf("all of the first %d cases fail, and none failed before: interrupt the %s if the command is wrong", pass.FailingFirst, r.Job.Name))
	warnMistakes(r, (*exec.Command).Hints)
}

// warnMistakes warns of likely mistakes in the command. It does nothing if cases have different
// commands.
func warnMistakes(r *run.Run, find func(*exec.Command) []string) {
	if r.Execution.Commands.Main == nil {
		return
	}
	for _, text := range find(r.Execution.Commands.Main) {
		r.Events.Warn(text)
	}
}

// warnCommand warns of likely mistakes in the command if most cases fail newly, of misspelt
// tokens if most are not identical, and of a command whose outcomes vary from run to run.
func warnCommand(r *run.Run, l *verdict.Loop) {
	counts, cases := r.Ledger.Summary.Verdicts, len(r.Inputs.Cases)
	differ := counts.NotIdentical()
	switch {
	case l.HasWarned():
	case 2*counts[regress.NewlyFailing] > cases:
		warnMistakes(r, (*exec.Command).Hints)
	case 2*differ > cases:
		warnMistakes(r, (*exec.Command).MisspeltTokens)
	}
	if 2*l.CountUnstable() > differ {
		r.Events.Warn(fmt.Sprintf("most cases that differ vary from run to run (%s of %s); --normalize rewrites what may vary, such as times and addresses, and --ignore leaves out a part, such as a cache", readable.Number(l.CountUnstable()), readable.Number(differ)))
	}
}

// noteOtherPreflight reports that the preflight of the recorded command has another outcome than
// it had for the golden: the tool of an engine's workers may have changed unnoticed. With another
// command the change is expected.
func noteOtherPreflight(events *run.Events, was, now golden.Meta) {
	none := outcome.Digest{}
	if was.Preflight == none || now.Preflight == none || was.Preflight == now.Preflight {
		return
	}
	if golden.SameCommands(was.Command, now.Command) {
		events.Note("the preflight has another outcome than it had for the golden: the engine's tool or its preflight has changed")
	}
}

// warnOtherLimits adds the limits of cases to the settings that differ from those of the record.
func warnOtherLimits(r *run.Run, was, now string) {
	if was == "" || now == "" || was == now {
		return
	}
	differing := func(list, other string) string {
		differs := slices.DeleteFunc(strings.Fields(list), func(l string) bool { return slices.Contains(strings.Fields(other), l) })
		return readable.Line(cmp.Or(strings.Join(differs, " "), "no such limit"))
	}
	text := "the golden was recorded with other limits (ulimit): " + differing(was, now) + ", this check has " + differing(now, was)
	r.Ledger.Summary.Settings = append(r.Ledger.Summary.Settings, text)
	r.Events.Warn(text)
}

// warnAcceptedElsewhere reports how many of the cases that differ were accepted from another command
// than the one that ran, and which check runs that command.
func warnAcceptedElsewhere(r *run.Run, base verdict.Baseline, recorded golden.Meta) error {
	lines := map[string]int{}
	elsewhere := acceptedElsewhere(&r.Job.Options, recorded)
	if len(elsewhere) == 0 {
		return nil
	}
	for _, result := range r.Ledger.Results() {
		if result.Verdict == regress.EnvironmentFailed || !base.Has(string(result.Name)) {
			continue
		}
		rec, _, err := base.Get(string(result.Name))
		if err != nil {
			return err
		}
		if line, is := elsewhere[rec.Origin]; is {
			lines[line]++
		}
	}
	for _, line := range slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[b], lines[a]), cmp.Compare(a, b))
	}) {
		were := "were"
		if lines[line] == 1 {
			were = "was"
		}
		r.Events.Warn(readable.Number(lines[line]) + " of the cases that differ " + were + " accepted from another command: " + line)
	}
	return nil
}

// acceptedElsewhere returns a command line for each accept of another command than the golden's and
// the one that ran. A check with that line finds the accepted outcomes. The keys are the origins in
// the records. Accepts before the golden's command moved count as accepts of its command.
func acceptedElsewhere(o *regress.Options, recorded golden.Meta) map[int]string {
	lines, ran := map[int]string{}, job.OutcomeFlags(o)
	moved := recorded.Recorder().Moved
	for i, a := range recorded.Accepts {
		if !a.At.After(moved) {
			continue
		}
		isRecorded := job.SameStart(a.Command, recorded.Command, a.Flags, recorded.Flags)
		if !isRecorded && !job.SameStart(a.Command, job.Commands(&o.Command), a.Flags, ran) {
			lines[i+1] = job.GreenLine(recorded, a, o)
		}
	}
	return lines
}
