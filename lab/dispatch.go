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

// DispatchOptions configures [Dispatch]. Lists must rise.
type DispatchOptions struct {
	Options
	Jobs  int   // workers of each pool
	Tasks []int // numbers of trivial tasks, each a column of the table
	Procs []int // values of GOMAXPROCS for contestants in Go
}

// modeTasksMax bounds the tasks of modes other than "single". More tasks do not change their
// figures.
const modeTasksMax = 1_000_000

// ModeTasks returns the number of tasks of a mode. most is the largest number in the options.
func ModeTasks(mode string, most int) int {
	if mode == probe.DispatchModes()[0] {
		return most
	}
	return min(most, modeTasksMax)
}

// patience is the time limit for tasks that wait for one another. They take a tenth of a
// second if they end at all.
const patience = 5 * time.Second

// Dispatch measures the cost of a trivial task on muster's pool, on the articles' pools in Go
// and C++, and on widely used pools.
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
	for _, peer := range append([]run.Peer{p.OwnPeer("dispatch")}, peers...) {
		for _, tasks := range o.Tasks {
			p.addDispatch(peer, "single", o.Jobs, tasks, o.Procs)
		}
		most := o.Procs[len(o.Procs)-1:]
		for _, mode := range probe.DispatchModes()[1:] {
			p.addDispatch(peer, mode, o.Jobs, ModeTasks(mode, o.Tasks[len(o.Tasks)-1]), most)
		}
	}
	return p.Results, p.Measure(ctx)
}

// addDispatch adds the trials of one peer in one mode. A peer in Go has a trial for each
// GOMAXPROCS.
func (p planner) addDispatch(peer run.Peer, mode string, jobs, tasks int, procs []int) {
	if peer.Language != run.Golang {
		procs = []int{0}
	}
	for _, n := range procs {
		args := []string{"-mode", mode, "-workers", strconv.Itoa(jobs), "-tasks", strconv.Itoa(tasks)}
		if peer.Impl != run.Muster {
			args = append(args, "-patience", strconv.FormatInt(patience.Milliseconds(), 10))
		}
		t := peer.Trial(DispatchName(peer.Impl, mode, jobs, tasks, n), 50*time.Millisecond+time.Duration(tasks)*300*time.Nanosecond, args...)
		t.Procs = n
		p.Add(t)
	}
}

// DispatchName returns the name of a figure of [Dispatch]. procs is 0 for a peer that is not
// in Go.
func DispatchName(impl, mode string, jobs, tasks, procs int) string {
	name := fmt.Sprintf("Dispatch/impl=%s/mode=%s/jobs=%d/tasks=%d", impl, mode, jobs, tasks)
	if procs > 0 {
		name += fmt.Sprintf("/procs=%d", procs)
	}
	return name
}

// checkNumbers rejects an empty list, and numbers that are out of bounds or do not rise.
func checkNumbers(what string, least, most int, numbers ...int) error {
	if len(numbers) == 0 {
		return inputf("no %s given", what)
	}
	for i, n := range numbers {
		if n < least || n > most {
			return inputf("%s is %d, but must be from %d to %d", what, n, least, most)
		}
		if i > 0 && n <= numbers[i-1] {
			return inputf("%s must rise: %d comes after %d", what, n, numbers[i-1])
		}
	}
	return nil
}
