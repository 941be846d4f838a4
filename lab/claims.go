package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"muster/lab/native"
	"muster/lab/probe"
)

// ClaimsOptions says how thoroughly [Claims] measures.
type ClaimsOptions struct {
	Options
	Sizes ClaimSizes
	Dir   string // for the corpus and the files that are renamed; "" = where the system has temporary files
}

// ClaimSizes are how much is measured for the claims.
type ClaimSizes struct {
	Cases, CaseBytes int // of the corpus
	Tasks            int // that are handed out
	Items            int // through a channel
	Roots            int // square roots of one measurement, at most: they bound how often a function is called
	Alive            int // goroutines that call a function, at most
	Goroutines       int // that wait
	Renames          int // of files
	Rows             int // written to a database
	ThreadsLimit     int // of the program that is to be stopped for having too many; 0 = Go's own, 10,000
}

// ClaimsQuick is what takes a minute or so with 2 processors, ClaimsFull what comes
// near the articles.
func ClaimsQuick() ClaimSizes {
	return ClaimSizes{
		Cases: 100, CaseBytes: 20 << 10, Tasks: 200_000, Items: 100_000, Roots: 5_000_000,
		Alive: 30_000, Goroutines: 1_000_000, Renames: 10_000, Rows: 1_000,
	}
}

// ClaimsFull is the sizes of the articles, but for the corpus, which is a fifteenth.
func ClaimsFull() ClaimSizes {
	return ClaimSizes{
		Cases: 1_000, CaseBytes: 67 << 10, Tasks: 10_000_000, Items: 1_000_000, Roots: 500_000_000,
		Alive: 1_000_000, Goroutines: 1_000_000, Renames: claimRenames, Rows: 20_000,
	}
}

// What the claims are measured with.
const (
	claimJobs     = 8  // workers that tasks are handed to, as in the article
	claimWorkers  = 32 // of the runner, likewise
	claimMessages = 20_000
	claimRenames  = 2_000_000
	claimTurns    = 200_000_000 // of the loop beside a channel, at most
	claimManyRoot = 700_000
)

func claimWork() []int   { return []int{1, 10, 100, 1000, 5000} }
func claimProcs() []int  { return []int{1, 2, 4, 16, 64, 256} }
func claimCycles() []int { return []int{0, 100, 1000, 100_000, 1_000_000} }

// claimWriters are the articles' numbers, or as many as rows.
func claimWriters(sizes ClaimSizes) []int { return []int{min(20, sizes.Rows-1), min(1000, sizes.Rows)} }

// Claims measures what the articles say, each thing here and now.
func Claims(ctx context.Context, o ClaimsOptions) (r *Results, err error) {
	o.Peers = nil // those that the articles had take part, and no others
	folder, err := folderFor(o.Dir)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(&o.Options, "claims", Pair{"sizes", fmt.Sprintf("%+v", o.Sizes)}, Pair{"dir", folder})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "muster-lab-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}()
	if err := p.addCorpus(ctx, dir, o.Sizes); err != nil {
		return p.results, err
	}
	if err := p.addClaimPeers(ctx, o.Sizes); err != nil {
		return p.results, err
	}
	p.addClaimChannels(o)
	p.addClaimSpawn(o)
	for _, folders := range renameDirs() {
		t := filesTrial(&IOOptions{Options: o.Options, Dir: o.Dir}, layoutName(folders), time.Duration(o.Sizes.Renames)*30*time.Microsecond,
			"layout", "-files", strconv.Itoa(o.Sizes.Renames), "-folders", strconv.Itoa(folders))
		if o.Sizes.Renames < claimRenames {
			t.most = 2 // so few cannot tell anyway
		}
		p.add(t)
	}
	p.add(trial{
		name: exhaustName(o.Sizes.ThreadsLimit), most: 1, estimate: 3 * time.Second,
		do: func(ctx context.Context) (Sample, absence, error) {
			return exhaust(ctx, IOOptions{Options: o.Options, ThreadsLimit: o.Sizes.ThreadsLimit})
		},
	})
	end, err := p.addWriters(ctx, ChannelOptions{Options: o.Options, Writers: claimWriters(o.Sizes), Rows: o.Sizes.Rows})
	if err != nil {
		return p.results, err
	}
	return p.results, errors.Join(p.measure(ctx), end())
}

// addClaimPeers adds what contestants are needed for.
func (p *plan) addClaimPeers(ctx context.Context, sizes ClaimSizes) error {
	defer func() { p.options.Peers = nil }()
	compile := func(q native.Question, impls ...string) ([]peer, error) {
		p.options.Peers = impls
		return p.compile(ctx, q)
	}
	dispatching, err := compile(native.Dispatch, "article", "cpp-boost")
	if err != nil {
		return err
	}
	for _, one := range dispatching {
		p.addDispatch(one, "single", claimJobs, sizes.Tasks, []int{1, claimJobs})
	}
	codecs, err := compile(native.Codec, "protobuf", "json")
	if err != nil {
		return err
	}
	for _, one := range codecs {
		p.add(trial{
			name: echoName(one.impl), dir: one.dir, estimate: claimMessages * 10 * time.Microsecond,
			command: append(slices.Clone(one.command), "-mode", "echo", "-goroutines", strconv.Itoa(echoConnections), "-ops", strconv.Itoa(claimMessages)),
		})
	}
	erlang, err := compile(native.Spawn, "erlang")
	if err != nil {
		return err
	}
	for _, one := range erlang {
		p.add(trial{
			name: SpawnName(one.impl, "waiting", 1, sizes.Goroutines, 0), most: 1, dir: one.dir, estimate: time.Duration(sizes.Goroutines) * 3 * time.Microsecond,
			command: append(slices.Clone(one.command), "-mode", "waiting", "-work", "1", "-count", strconv.Itoa(sizes.Goroutines)),
		})
	}
	return nil
}

// addClaimChannels adds what is measured of channels and of GOMAXPROCS.
func (p *plan) addClaimChannels(o ClaimsOptions) {
	c := ChannelOptions{Options: o.Options, Items: o.Sizes.Items}
	for _, procs := range claimProcs() {
		p.addChannel(c, 0, 0, procs, 0)
	}
	for _, cycles := range claimCycles()[1:] {
		for _, procs := range []int{1, 2} {
			few := c
			few.Items = min(few.Items, max(claimTurns/cycles, 1))
			p.addChannel(few, 0, cycles, procs, 0)
		}
	}
	if n := runtime.NumCPU(); n > 1 {
		p.addChannel(c, 0, 0, 1, 1)
		p.addChannel(c, 0, 0, 1, min(n, processesMax))
	}
	for _, procs := range []int{0, 300} {
		t := probeTrial(&o.Options, procsName(procs), procs, 10*time.Millisecond, "procs")
		t.most = 1
		p.add(t)
	}
}

// procsName is the name of the GOMAXPROCS that a process has that asked for so many; 0 is
// for none.
func procsName(asked int) string { return fmt.Sprintf("Procs/asked=%d", asked) }

// addClaimSpawn adds what is measured of goroutines.
func (p *plan) addClaimSpawn(o ClaimsOptions) {
	s := SpawnOptions{Options: o.Options}
	for _, procs := range []int{1, 2} {
		for _, work := range claimWork() {
			p.addSpawn(s, "direct", work, claimCalls(o.Sizes, work), procs)
			p.addSpawn(s, "each", work, claimCount(o.Sizes, work), procs)
		}
	}
	if o.Sizes.Goroutines >= claimManyRoot {
		p.addSpawn(s, "each", 10, claimManyRoot, 1)
		p.trials[len(p.trials)-1].most = 1 // a second or more
	}
	t := probeTrial(&o.Options, SpawnName(muster, "waiting", 0, o.Sizes.Goroutines, 1), 1, time.Duration(o.Sizes.Goroutines)*2*time.Microsecond,
		"waiting", "-count", strconv.Itoa(o.Sizes.Goroutines))
	t.most = 1
	p.add(t)
}

// claimCount is how many goroutines call a function of so many roots.
func claimCount(sizes ClaimSizes, work int) int {
	return min(sizes.Alive, claimCalls(sizes, work))
}

// claimCalls is how often such a function is called in a loop: more often where it is
// quick, or the collection of garbage at the end would be most of the time.
func claimCalls(sizes ClaimSizes, work int) int {
	return max(1_000, sizes.Roots/work)
}

// memoryTotal is that of this machine in bytes; 0 if it cannot be told.
func memoryTotal() float64 { return float64(probe.MemoryTotal()) }
