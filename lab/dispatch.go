package lab

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

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
	p, err := newPlan(&o.Options, "dispatch")
	if err != nil {
		return nil, err
	}
	peers, err := p.compile(ctx, native.Dispatch)
	if err != nil {
		return nil, err
	}
	own := peer{impl: muster, language: golang, command: append(slices.Clone(o.Probe), "dispatch")}
	for _, one := range append([]peer{own}, peers...) {
		for _, tasks := range o.Tasks {
			p.addDispatch(one, "single", o.Jobs, tasks, o.Procs)
		}
		most := o.Procs[len(o.Procs)-1:]
		for _, mode := range probe.DispatchModes()[1:] {
			p.addDispatch(one, mode, o.Jobs, min(o.Tasks[len(o.Tasks)-1], modeTasksMax), most)
		}
	}
	return p.results, p.measure(ctx)
}

// addDispatch adds the trials of one peer in one mode, one for each GOMAXPROCS where the
// peer obeys that.
func (p *plan) addDispatch(one peer, mode string, jobs, tasks int, procs []int) {
	if one.language != golang {
		procs = []int{0}
	}
	for _, n := range procs {
		p.add(trial{
			name: DispatchName(one.impl, mode, jobs, tasks, n),
			command: append(slices.Clone(one.command), "-mode", mode,
				"-workers", strconv.Itoa(jobs), "-tasks", strconv.Itoa(tasks)),
			dir: one.dir, procs: n,
			estimate: 50*time.Millisecond + time.Duration(tasks)*300*time.Nanosecond,
		})
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
