package lab

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"muster/lab/internal/run"
	"muster/lab/native"
	"muster/lab/probe"
)

// DispatchOptions says what [Dispatch] measures.
type DispatchOptions struct {
	Options
	Jobs  int   // workers of each pool
	Tasks []int // numbers of trivial tasks, each a row of the table; rising
	Procs []int // GOMAXPROCS of what is in Go; rising
}

// modeTasksMax is how many tasks the modes besides "single" get: they need no more to be
// told apart.
const modeTasksMax = 1_000_000

// ModeTasks is how many tasks a mode gets where so many are the most that are asked for.
func ModeTasks(mode string, most int) int {
	if mode == probe.DispatchModes()[0] {
		return most
	}
	return min(most, modeTasksMax)
}

// patience is after which time a contestant's tasks that wait for one another are said not
// to end; they take a tenth of a second where they do.
const patience = 5 * time.Second

// Dispatch measures what it costs to hand a trivial task to a pool: muster's, the
// articles' in Go and C++, and those that people use.
func Dispatch(ctx context.Context, o DispatchOptions) (*Results, error) {
	if err := checkNumbers("jobs", 1, 1024, o.Jobs); err != nil {
		return nil, err
	}
	if err := checkNumbers("tasks", 1, 1_000_000_000, o.Tasks...); err != nil {
		return nil, err
	}
	if err := checkNumbers("procs", 1, 1024, o.Procs...); err != nil {
		return nil, err
	}
	plan, err := run.New(&o.Options, "dispatch")
	if err != nil {
		return nil, err
	}
	p := planner{plan}
	peers, err := p.Peers(ctx, native.Dispatch)
	if err != nil {
		return nil, err
	}
	for _, one := range append([]run.Peer{p.Own("dispatch")}, peers...) {
		for _, tasks := range o.Tasks {
			p.addDispatch(one, "single", o.Jobs, tasks, o.Procs)
		}
		most := o.Procs[len(o.Procs)-1:]
		for _, mode := range probe.DispatchModes()[1:] {
			p.addDispatch(one, mode, o.Jobs, ModeTasks(mode, o.Tasks[len(o.Tasks)-1]), most)
		}
	}
	return p.Results, p.Measure(ctx)
}

// addDispatch adds the trials of one peer in one mode, one for each GOMAXPROCS where the
// peer obeys that.
func (p planner) addDispatch(one run.Peer, mode string, jobs, tasks int, procs []int) {
	if one.Language != run.Golang {
		procs = []int{0}
	}
	for _, n := range procs {
		args := []string{"-mode", mode, "-workers", strconv.Itoa(jobs), "-tasks", strconv.Itoa(tasks)}
		if one.Impl != run.Muster {
			args = append(args, "-patience", strconv.FormatInt(patience.Milliseconds(), 10))
		}
		t := one.Trial(DispatchName(one.Impl, mode, jobs, tasks, n), 50*time.Millisecond+time.Duration(tasks)*300*time.Nanosecond, args...)
		t.Procs = n
		p.Add(t)
	}
}

// DispatchName is the name of a figure of [Dispatch]. procs is 0 where a peer is not in
// Go.
func DispatchName(impl, mode string, jobs, tasks, procs int) string {
	name := fmt.Sprintf("Dispatch/impl=%s/mode=%s/jobs=%d/tasks=%d", impl, mode, jobs, tasks)
	if procs > 0 {
		name += fmt.Sprintf("/procs=%d", procs)
	}
	return name
}

// checkNumbers refuses numbers that are out of bounds or do not rise, and none at all.
func checkNumbers(what string, least, most int, numbers ...int) error {
	if len(numbers) == 0 {
		return inputf("no %s given", what)
	}
	for i, n := range numbers {
		if n < least || n > most {
			return inputf("%s of %d: from %d to %d are possible", what, n, least, most)
		}
		if i > 0 && n <= numbers[i-1] {
			return inputf("%s must rise: %d comes after %d", what, n, numbers[i-1])
		}
	}
	return nil
}
