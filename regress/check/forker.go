package check

import (
	"context"
	"errors"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/crew"
	"muster/regress/internal/exec"
	"muster/regress/internal/forkserver"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/run"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// forker has the cases of a check run as forks of a command that has started. A nil *forker does
// nothing.
type forker struct {
	run      *run.Run
	base     *golden.Store
	costs    *turns.Measurement
	command  *exec.Command
	executor *forkserver.Executor
}

// newForker compiles what makes fork servers, and adds it to the setup, if the check asks for them.
// Where there can be none it returns nil: every case runs plainly. A line says why.
func newForker(ctx context.Context, r *run.Run, base *golden.Store, costs *turns.Measurement, setup *crew.Setup) (*forker, error) {
	if !r.Job.Store.ForkServer || base == nil {
		return nil, nil
	}
	command := r.Execution.Commands.Main
	why := whyNoForks(r, command)
	if why == "" {
		shim, err := forkserver.Build(ctx, r.State.Cache())
		no := (*exec.NoServer)(nil)
		switch {
		case errors.As(err, &no):
			why = no.Why
		case err != nil:
			return nil, err
		}
		setup.Shim = shim
	}
	if why != "" {
		r.Events.Warn(noForks + why)
		return nil, nil
	}
	return &forker{run: r, base: base, costs: costs, command: command}, nil
}

// noForks begins the line that says why there are no forks.
const noForks = "--fork-server: every case runs plainly, as "

// whyNoForks returns why the command cannot run as forks whatever it is, or "".
func whyNoForks(r *run.Run, command *exec.Command) string {
	switch {
	case command == nil || len(r.Execution.Commands.ByGlob) > 0:
		return "cases have different commands"
	case command.As == "":
		return "the sources have different names: give them one name with --as NAME"
	case len(r.Inputs.Cases) < forkserver.CasesLeast:
		return tooFew()
	}
	for _, kv := range job.Environment(&r.Job.Command) {
		if strings.HasPrefix(kv, "LD_AUDIT=") {
			return "the environment has LD_AUDIT, which the fork server needs"
		}
	}
	return ""
}

func tooFew() string {
	return "a fork server gains nothing on fewer than " + readable.Cases(forkserver.CasesLeast)
}

// begin puts the forks before the executor of the run.
func (f *forker) begin() {
	if f == nil {
		return
	}
	f.executor = forkserver.New(f.run.Execution.Executor, f.command, func(caseName string, is outcome.Digest) bool {
		was, known := f.base.OutcomeDigest(caseName)
		return known && was == is
	})
	f.run.Execution.Executor = f.executor
}

// runFirst makes the first runs of all tasks: first those of the cases that run both ways. If a fork
// has another outcome than a plain run later, all that forks ran runs again.
func (f *forker) runFirst(ctx context.Context, loop *verdict.Loop, tasks []pass.Task) error {
	measured, err := f.costs.ChooseCases(f.run.Inputs.Cases)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range tasks {
		if !measured[t.Index] { // those run beside another command
			names = append(names, t.Entry.Name)
		}
	}
	if len(names) < forkserver.CasesLeast { // the rest of a run that is resumed, for example
		f.run.Events.Warn(noForks + tooFew())
		return loop.RunFirst(ctx, tasks)
	}
	f.executor.Guard(names, f.failed)
	guard, others := pass.Split(tasks, func(t pass.Task) bool { return f.executor.IsGuarded(t.Entry.Name) })
	if err := loop.RunFirst(ctx, guard); err != nil {
		return err
	}
	if why := f.executor.Admit(); why != "" {
		f.run.Events.Warn(noForks + why)
	}
	if err := loop.RunFirst(ctx, others); err != nil {
		return err
	}
	why, mismatch := f.executor.End()
	if !mismatch {
		if why != "" && f.executor.Forks() > 0 {
			f.run.Events.Warn("--fork-server: some cases ran plainly, as " + why)
		}
		return loop.AcceptForks()
	}
	again := loop.RetractForks()
	if len(again) > 0 {
		next := " run again"
		if loop.HasEnoughFailed() {
			next = " have no verdict, as --fail-fast ended the check"
		}
		f.run.Events.Warn("--fork-server: " + why + "; what forks ran does not count, and " + readable.Cases(len(again)) + next)
	}
	return loop.RunFirst(ctx, again)
}

func (f *forker) failed(caseName string) bool {
	rec, known, err := f.base.Get(caseName)
	return err == nil && known && !rec.Outcome.Ending.Success()
}
