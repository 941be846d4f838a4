package lab

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/lab/internal/run"
	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
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
	if err := cmp.Or(
		checkNumbers("jobs", 1, 1024, o.Jobs),
		checkNumbers("tasks", 1, 1_000_000_000, o.Tasks...),
		checkNumbers("procs", 1, 1024, o.Procs...),
	); err != nil {
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
	for _, peer := range append([]run.Peer{run.OwnPeer()}, peers...) {
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
		name, estimate := DispatchName(peer.Impl, mode, jobs, tasks, n), 50*time.Millisecond+time.Duration(tasks)*300*time.Nanosecond
		if peer.Own && !probe.HasDispatchMode(peer.Impl, mode) {
			p.Results.Absent = append(p.Results.Absent, results.Absent{Name: name, Why: results.NoSuchMode})
			continue
		}
		t := p.Probe(name, estimate, question("dispatch", dispatchQuestion{peer.Impl, mode, jobs, tasks})...)
		if !peer.Own {
			t = peer.Trial(name, estimate, "-mode", mode, "-workers", strconv.Itoa(jobs), "-tasks", strconv.Itoa(tasks),
				"-patience", strconv.FormatInt(patience.Milliseconds(), 10))
		}
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

// SpawnOptions configures [Spawn]. Lists must rise.
type SpawnOptions struct {
	Options
	Work       []int // square roots per call
	Goroutines []int // calls, and goroutines alive at the same time
	Procs      []int // values of GOMAXPROCS

	// EachMax is the longest estimated duration of one measurement. Longer ones are left out,
	// and reported as such. 0 = no limit.
	EachMax time.Duration
}

// threadsMost bounds the system threads of contestants.
const threadsMost = 20_000

// rootCost is the approximate duration of one square root, for estimates.
const rootCost = 6 * time.Nanosecond

// Spawn measures functions that compute square roots and send their result over a channel:
// called in a loop, and each call in a goroutine of its own, garbage collection included. It
// also measures a loop that sends nothing, and the memory of waiting goroutines. Contestants are
// threads, tasks and processes of other languages.
func Spawn(ctx context.Context, o SpawnOptions) (*Results, error) {
	if err := cmp.Or(
		checkNumbers("work", 1, 1_000_000, o.Work...),
		checkNumbers("goroutines", 1, 10_000_000, o.Goroutines...),
		checkNumbers("procs", 1, 1024, o.Procs...),
	); err != nil {
		return nil, err
	}
	plan, err := run.New(&o.Options, "spawn")
	if err != nil {
		return nil, err
	}
	p := planner{plan}
	peers, err := p.Peers(ctx, native.Spawn)
	if err != nil {
		return nil, err
	}
	for _, procs := range o.Procs {
		for _, work := range o.Work {
			p.AddShort(p.spawnTrial(probe.Bare, work, directCalls(work), procs), o.EachMax)
			for _, count := range o.Goroutines {
				p.AddShort(p.spawnTrial(probe.Sending, work, count, procs), o.EachMax)
				p.AddShort(p.spawnTrial(probe.Each, work, count, procs), o.EachMax)
			}
		}
	}
	for _, count := range o.Goroutines {
		p.AddShort(p.waitingTrial(count), o.EachMax)
	}
	for _, peer := range peers {
		p.addPeerSpawn(o, peer)
	}
	return p.Results, p.Measure(ctx)
}

// directCalls returns how often a loop that sends nothing calls a function. The final garbage collection takes as
// long after one call as after a million, so there are many calls.
func directCalls(work int) int { return max(1_000, 10_000_000/work) }

// spawnTrial returns a trial of calls in goroutines, or in a loop.
func (p planner) spawnTrial(mode probe.SpawnMode, work, count, procs int) run.Trial {
	added := map[probe.SpawnMode]time.Duration{probe.Bare: 3, probe.Sending: 150, probe.Grouped: 300, probe.Each: 500}[mode]
	t := p.Probe(SpawnName(run.Muster, string(mode), work, count, procs), time.Duration(count)*(added+time.Duration(work)*rootCost),
		question("spawn", probe.SpawnOptions{Roots: work, Calls: count, Mode: mode})...)
	t.Procs = procs
	return t
}

// waitingTrial returns a trial of goroutines that wait.
func (p planner) waitingTrial(count int) run.Trial {
	t := p.Probe(SpawnName(run.Muster, "waiting", 0, count, 1), time.Duration(count)*time.Microsecond, question("waiting", waitingQuestion{count})...)
	t.Procs = 1
	return t
}

// peerCost is the approximate cost of one thread, task or process, for estimates.
func peerCost(impl string) time.Duration {
	switch impl {
	case "java-thread":
		return 200 * time.Microsecond
	case "cpp-thread", "rust-thread":
		return 10 * time.Microsecond
	}
	return 3 * time.Microsecond
}

// addPeerSpawn adds the trials of another language: calls with the least work, where the
// difference is largest, and waiting threads, tasks or processes.
func (p planner) addPeerSpawn(o SpawnOptions, peer run.Peer) {
	for _, count := range o.Goroutines {
		if strings.HasSuffix(peer.Impl, "-thread") && count > threadsMost {
			continue
		}
		for _, mode := range []string{"each", "waiting"} {
			p.AddShort(peer.Trial(SpawnName(peer.Impl, mode, o.Work[0], count, 0), time.Duration(count)*peerCost(peer.Impl),
				"-mode", mode, "-work", strconv.Itoa(o.Work[0]), "-count", strconv.Itoa(count)), o.EachMax)
		}
	}
}

// SpawnName returns the name of a figure of [Spawn]. procs is 0 for a peer that is not in Go.
func SpawnName(impl, mode string, work, count, procs int) string {
	name := "Spawn/impl=" + impl + "/mode=" + mode
	if work > 0 {
		name += fmt.Sprintf("/work=%d", work)
	}
	name += fmt.Sprintf("/count=%d", count)
	if procs > 0 {
		name += fmt.Sprintf("/procs=%d", procs)
	}
	return name
}
