package run

import (
	"context"
	"time"

	"muster/regress/internal/content"
	"muster/regress/internal/crew"
	"muster/regress/internal/exec"
	"muster/regress/internal/normalize"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// Execution is what runs the cases of a run: a crew, the resolved commands, and the executor that
// the crew starts. The goroutine that owns the run calls its methods.
type Execution struct {
	Crew     crew.Crew     // on this machine, unless Run.Connect replaced it
	Commands crew.Commands // empty before ResolveCommands
	Executor exec.Executor // nil before Start
	OwnCPU   time.Duration // that muster itself used, once Stop closed the executor

	ignored content.IgnoreList // parts that are never compared
	tried   normalize.Rules    // that may match nothing
	usedAt  time.Duration      // CPU that this process had used at the start
}

// Start starts the executor.
func (e *Execution) Start(ctx context.Context, s crew.Setup) error {
	err := e.StartPlain(ctx, s)
	if err == nil {
		e.Executor = crew.Finish(e.Executor, e.ignored, e.tried)
	}
	return err
}

// StartPlain starts an executor that marks no parts to ignore.
func (e *Execution) StartPlain(ctx context.Context, s crew.Setup) error {
	started, err := e.Crew.Start(ctx, s)
	if err == nil {
		e.Executor = started
	}
	return err
}

// Runner returns a runner of cases on the executor. It emits the start of each run. Call it after
// Start.
func (e *Execution) Runner(emit func(report.Event)) pass.Runner {
	return pass.Runner{Executor: e.Executor, Command: e.Commands.For, Started: func(t pass.Task, number int) {
		emit(report.CaseStarted{Name: t.Entry.Name, Pass: number, At: time.Now()})
	}}
}

// Stop closes the executor, if there is one. Start may start another one.
func (e *Execution) Stop() error {
	if e.Executor == nil {
		return nil
	}
	err := e.Executor.Close()
	e.OwnCPU = crew.UsedCPU() - e.usedAt + e.Executor.OwnCPU()
	e.Executor = nil
	return err
}

// Close closes the executor and the crew, once the crew emits no more events.
func (e *Execution) Close() error {
	e.Crew.Quiet()
	err := e.Stop()
	e.Crew.Close()
	return err
}
