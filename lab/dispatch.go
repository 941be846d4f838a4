package lab

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/internal/readable"
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

	// RowMax is the longest estimated duration of all runs of one contestant with one number of
	// tasks. Longer rows are left out, and reported as such. 0 = no limit.
	RowMax time.Duration
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
		for i, tasks := range o.Tasks {
			fewer := 0
			if i > 0 {
				fewer = o.Tasks[i-1]
			}
			p.addRow(peer, "single", o.Jobs, tasks, o.Procs, fewer, o.RowMax)
		}
		most := o.Procs[len(o.Procs)-1:]
		for _, mode := range probe.DispatchModes()[1:] {
			p.addDispatch(peer, mode, o.Jobs, ModeTasks(mode, o.Tasks[len(o.Tasks)-1]), most)
		}
	}
	return p.Results, p.Measure(ctx)
}

// addDispatch adds the trials of one peer in one mode, without a limit.
func (p planner) addDispatch(peer run.Peer, mode string, jobs, tasks int, procs []int) {
	p.addRow(peer, mode, jobs, tasks, procs, 0, 0)
}

// addRow adds the trials of one peer in one mode. A peer in Go has a trial for each GOMAXPROCS. The
// figures of the row with fewer tasks decide whether this one takes longer than most.
func (p planner) addRow(peer run.Peer, mode string, jobs, tasks int, procs []int, fewer int, most time.Duration) {
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
		t.Ops, t.Smaller, t.TotalMax = tasks, DispatchName(peer.Impl, mode, jobs, fewer, n), most
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

	// EachMax is the longest estimated duration of one measurement. MemoryMax is the most memory
	// that goroutines, threads or processes may need, in bytes. Measurements that exceed one of
	// them are left out, and reported as such. 0 = no limit.
	EachMax   time.Duration
	MemoryMax int64
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
				p.addAlive(o, run.Muster, count, p.spawnTrial(probe.Each, work, count, procs))
			}
		}
	}
	for _, count := range o.Goroutines {
		p.addAlive(o, run.Muster, count, p.waitingTrial(count))
	}
	for _, peer := range peers {
		p.addPeerSpawn(o, peer)
	}
	return p.Results, p.Measure(ctx)
}

// addAlive adds a trial of count goroutines, threads or processes that are alive at once.
func (p planner) addAlive(o SpawnOptions, impl string, count int, t run.Trial) {
	if need := int64(count) * peerMemory(impl); o.MemoryMax > 0 && need > o.MemoryMax {
		p.Results.Absent = append(p.Results.Absent, results.Absent{Name: t.Name, Why: fmt.Sprintf("%sneeds about %s of memory, and %s are free",
			results.TooLarge, readable.Size(need), readable.Size(o.MemoryMax))})
		return
	}
	p.AddShort(t, o.EachMax)
}

// peerMemory is the approximate memory of one goroutine, thread or process, in bytes, for estimates.
func peerMemory(impl string) int64 {
	if strings.HasSuffix(impl, "-thread") {
		return 64 << 10
	}
	return 3 << 10
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
	case "rayon":
		return 300 * time.Nanosecond
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
			p.addAlive(o, peer.Impl, count, peer.Trial(SpawnName(peer.Impl, mode, o.Work[0], count, 0), time.Duration(count)*peerCost(peer.Impl),
				"-mode", mode, "-work", strconv.Itoa(o.Work[0]), "-count", strconv.Itoa(count)))
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
