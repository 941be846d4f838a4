package lab

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/lab/internal/run"
	"muster/lab/native"
)

// SpawnOptions says what [Spawn] measures.
type SpawnOptions struct {
	Options
	Work       []int // square roots of a call; rising
	Goroutines []int // calls, and goroutines alive at the same time; rising
	Procs      []int // GOMAXPROCS; rising

	// EachMax is how long one measurement may take by estimate: longer ones are left out,
	// and said to be. 0 is no limit.
	EachMax time.Duration
}

// threadsMost is how many threads of the system are asked for, where threads are what is
// compared.
const threadsMost = 20_000

// rootCost is about what one square root takes, for estimates alone.
const rootCost = 6 * time.Nanosecond

// Spawn measures functions of some square roots, called in a loop and each in a goroutine
// of its own, garbage collection included, and what goroutines that wait take of memory;
// beside threads, tasks and processes of other languages.
func Spawn(ctx context.Context, o SpawnOptions) (*Results, error) {
	if err := checkNumbers("work", 1, 1_000_000, o.Work...); err != nil {
		return nil, err
	}
	if err := checkNumbers("goroutines", 1, 10_000_000, o.Goroutines...); err != nil {
		return nil, err
	}
	if err := checkNumbers("procs", 1, 1024, o.Procs...); err != nil {
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
			p.AddShort(p.spawn("direct", work, directCalls(work), procs), o.EachMax)
			for _, count := range o.Goroutines {
				p.AddShort(p.spawn("each", work, count, procs), o.EachMax)
			}
		}
	}
	for _, count := range o.Goroutines {
		p.AddShort(p.waiting(count), o.EachMax)
	}
	for _, one := range peers {
		p.addPeerSpawn(o, one)
	}
	return p.Results, p.Measure(ctx)
}

// directCalls is how often a function is called in a loop: so often that the collection of
// garbage at the end, which takes as long for one call as for a million, does not show.
func directCalls(work int) int { return max(1_000, 10_000_000/work) }

// spawn is a trial of goroutines that call a function, or of a loop that does.
func (p planner) spawn(mode string, work, count, procs int) run.Trial {
	added := 500 * time.Nanosecond
	if mode == "direct" {
		added = 3 * time.Nanosecond
	}
	t := p.Probe(SpawnName(run.Muster, mode, work, count, procs), time.Duration(count)*(added+time.Duration(work)*rootCost),
		"spawn", "-mode", mode, "-work", strconv.Itoa(work), "-count", strconv.Itoa(count))
	t.Procs = procs
	return t
}

// waiting is a trial of goroutines that wait.
func (p planner) waiting(count int) run.Trial {
	t := p.Probe(SpawnName(run.Muster, "waiting", 0, count, 1), time.Duration(count)*time.Microsecond, "waiting", "-count", strconv.Itoa(count))
	t.Procs = 1
	return t
}

// peerCost is about what one thread, task or process takes, for estimates alone.
func peerCost(impl string) time.Duration {
	switch impl {
	case "java-thread":
		return 200 * time.Microsecond
	case "cpp-thread", "rust-thread":
		return 10 * time.Microsecond
	}
	return 3 * time.Microsecond
}

// addPeerSpawn adds those of another language: with the least work, where the difference
// is largest, and what those that wait take.
func (p planner) addPeerSpawn(o SpawnOptions, one run.Peer) {
	for _, count := range o.Goroutines {
		if strings.HasSuffix(one.Impl, "-thread") && count > threadsMost {
			continue
		}
		for _, mode := range []string{"each", "waiting"} {
			p.AddShort(one.Trial(SpawnName(one.Impl, mode, o.Work[0], count, 0), time.Duration(count)*peerCost(one.Impl),
				"-mode", mode, "-work", strconv.Itoa(o.Work[0]), "-count", strconv.Itoa(count)), o.EachMax)
		}
	}
}

// SpawnName is the name of a figure of [Spawn]. procs is 0 where a peer is not in Go.
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
