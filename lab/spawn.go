package lab

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/lab/native"
)

// SpawnOptions says what [Spawn] measures.
type SpawnOptions struct {
	Options
	Work       []int // square roots of a call; rising
	Goroutines []int // calls, and goroutines alive at the same time; rising
	Procs      []int // GOMAXPROCS; rising
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
	p, err := newPlan(&o.Options, "spawn")
	if err != nil {
		return nil, err
	}
	peers, err := p.compile(ctx, native.Spawn)
	if err != nil {
		return nil, err
	}
	for _, procs := range o.Procs {
		for _, work := range o.Work {
			p.addSpawn(o, "direct", work, directCalls(work), procs)
			for _, count := range o.Goroutines {
				p.addSpawn(o, "each", work, count, procs)
			}
		}
	}
	for _, count := range o.Goroutines {
		p.add(trial{
			name:    SpawnName(muster, "waiting", 0, count, 1),
			command: append(slices.Clone(o.Probe), "waiting", "-count", strconv.Itoa(count)),
			procs:   1, estimate: time.Duration(count) * time.Microsecond,
		})
	}
	for _, one := range peers {
		p.addPeerSpawn(o, one)
	}
	return p.results, p.measure(ctx)
}

// directCalls is how often a function is called in a loop: so often that the collection of
// garbage at the end, which takes as long for one call as for a million, does not show.
func directCalls(work int) int { return max(1_000, 10_000_000/work) }

func (p *plan) addSpawn(o SpawnOptions, mode string, work, count, procs int) {
	added := 500 * time.Nanosecond
	if mode == "direct" {
		added = 3 * time.Nanosecond
	}
	p.add(trial{
		name: SpawnName(muster, mode, work, count, procs),
		command: append(slices.Clone(o.Probe), "spawn", "-mode", mode,
			"-work", strconv.Itoa(work), "-count", strconv.Itoa(count)),
		procs: procs, estimate: time.Duration(count) * (added + time.Duration(work)*rootCost),
	})
}

// addPeerSpawn adds those of another language: with the least work, where the difference
// is largest, and what those that wait take.
func (p *plan) addPeerSpawn(o SpawnOptions, one peer) {
	for _, count := range o.Goroutines {
		if strings.HasSuffix(one.impl, "-thread") && count > threadsMost {
			continue
		}
		for _, mode := range []string{"each", "waiting"} {
			p.add(trial{
				name: SpawnName(one.impl, mode, o.Work[0], count, 0),
				command: append(slices.Clone(one.command), "-mode", mode,
					"-work", strconv.Itoa(o.Work[0]), "-count", strconv.Itoa(count)),
				dir: one.dir, estimate: time.Duration(count) * 10 * time.Microsecond,
			})
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
