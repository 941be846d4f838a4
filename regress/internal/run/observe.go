package run

import (
	"context"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/observation"
	"muster/regress/internal/pass"
	"muster/regress/internal/tool"
	"muster/regress/lane/observe"
)

// ObserveTool observes the commands on the first cases, and on some of those that run later on
// Execution.Executor. A resumed run has its tool from the interrupted one. further are commands that
// run beside the others. Call it after Execution.Start and IdentifyTool, and before Identity. On an engine it
// does nothing.
func ObserveTool(ctx context.Context, r *Run, further ...*exec.Command) error {
	t := r.Tool
	if t.remote {
		return nil
	}
	o := observation.New(observation.Options{
		Leave: t.options.Leave, Began: r.Began, Own: t.own, Digests: t.options.Digests, All: r.Job.Command.Observe == regress.ObserveAll,
		Grown: t.add,
		Warn: func(why string) {
			r.Events.Warn("muster does not know all files of the tool, because " + why + ", and does not notice changes of the others: name them with --tool-file")
		},
	})
	isKnown, err := restoreTool(r)
	if err != nil {
		return err
	}
	if isKnown && canObserve(r) {
		o.Know(t.Closure())
	} else if err := observeFirst(ctx, r, o, further); err != nil {
		return err
	}
	if canObserve(r) {
		t.observer = o
		r.Execution.Executor = o.Decorate(r.Execution.Executor)
	}
	return nil
}

func canObserve(r *Run) bool {
	return observe.Supported && r.Job.Command.Observe != regress.ObserveNone
}

// restoreTool takes over the tool of the interrupted run that --resume asks for, if there is one. It reports
// whether that is the present tool.
func restoreTool(r *Run) (bool, error) {
	if !r.Job.Store.Resume || r.Folder != nil {
		return false, nil
	}
	last, err := r.State.Unfinished(r.Job.Name)
	if err != nil || last == nil {
		return false, err
	}
	r.Tool.restore(last.Identity)
	return hasTool(last.Identity), nil
}

// observeFirst observes the first cases. Without their closure it takes what the command line shows.
func observeFirst(ctx context.Context, r *Run, o *observation.Observer, further []*exec.Command) error {
	t := r.Tool
	why := ""
	switch {
	case r.Job.Command.Observe == regress.ObserveNone: // that was asked for
	case !observe.Supported:
		why = "this system has no way to observe it"
	default:
		jobs := firstJobs(r, further)
		slow := time.AfterFunc(sayAfter, func() {
			r.Events.Note("the tool is observed on " + readable.Count(len(jobs), "first run"))
		})
		c, blind, err := o.First(ctx, r.Execution.Executor, jobs)
		slow.Stop()
		if err != nil {
			return err
		}
		if blind == "" {
			t.add(c)
			t.options.Digests.Save()
			return nil
		}
		why = blind
	}
	shown := tool.Shown(ctx, t.options)
	if err := ctx.Err(); err != nil {
		return err
	}
	t.add(shown)
	if why != "" {
		r.Events.Warn("the tool is not observed, because " + why + ": muster knows only the files that its command names, their interpreters and libraries; name others with --tool-file")
	}
	return nil
}

// sayAfter is how long people wait without a word.
const sayAfter = 2 * time.Second

// firstCases is how many cases are observed before the others run. Each glob of a command adds one.
const firstCases = 3

// firstJobs returns the runs of the cases to observe: the first, the last and those between, and the
// first case of each glob.
func firstJobs(r *Run, further []*exec.Command) (jobs []exec.Job) {
	tasks := r.Inputs.Tasks()
	chosen, commands := map[int]bool{}, map[*exec.Command]bool{}
	for i := range firstCases {
		if len(tasks) > 0 {
			chosen[i*(len(tasks)-1)/(firstCases-1)] = true
		}
	}
	for i := range chosen {
		commands[r.Execution.Commands.For(tasks[i].Entry.Name)] = true
	}
	for i, t := range tasks {
		if c := r.Execution.Commands.For(t.Entry.Name); !commands[c] {
			commands[c], chosen[i] = true, true
		}
	}
	add := func(t pass.Task, c *exec.Command) {
		jobs = append(jobs, exec.Job{Source: *t.Entry, Command: c, Avoid: exec.NoLane})
	}
	for i, t := range tasks {
		if !chosen[i] {
			continue
		}
		add(t, r.Execution.Commands.For(t.Entry.Name))
		for _, c := range further {
			add(t, c)
		}
	}
	return jobs
}
