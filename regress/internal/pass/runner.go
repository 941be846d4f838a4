package pass

import (
	"context"

	"muster/regress/internal/exec"
)

// A Runner runs cases on an executor. Several goroutines may call its methods.
type Runner struct {
	Executor exec.Executor
	Command  func(caseName string) *exec.Command // for RunTasks
	Started  func(t Task, number int)            // called before each run with the number of its pass
}

// RunOnce runs a command once on the case of a task. The run avoids a lane. fresh forbids an
// engine to return the result of an earlier run.
func (r Runner) RunOnce(ctx context.Context, t Task, c *exec.Command, number, avoid int, fresh bool) (*exec.Result, error) {
	r.Started(t, number)
	return r.Executor.Run(ctx, exec.Job{Source: *t.Entry, Command: c, Avoid: avoid, Fresh: fresh})
}

// RunTasks returns a function for Batched.RunTasks. The runs of every pass but the first are
// fresh.
func (r Runner) RunTasks(number int) func(context.Context, []Task, int, func(Task, *exec.Result, error)) int {
	return func(ctx context.Context, tasks []Task, avoid int, ended func(Task, *exec.Result, error)) int {
		jobs := make([]exec.Job, len(tasks))
		for i, t := range tasks {
			jobs[i] = exec.Job{Source: *t.Entry, Command: r.Command(t.Entry.Name), Avoid: avoid, Fresh: number > 1}
		}
		return r.Executor.RunAll(ctx, exec.Batch{
			Jobs:    jobs,
			Started: func(i int) { r.Started(tasks[i], number) },
			Ended:   func(i int, r *exec.Result, err error) { ended(tasks[i], r, err) },
		})
	}
}
