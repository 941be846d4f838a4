package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"muster/lab/internal/run"
	"muster/lab/native"
	"muster/lab/results"
)

// ClaimsOptions says how thoroughly [Claims] measures.
type ClaimsOptions struct {
	Options
	Sizes ClaimSizes
	Dir   string // for the corpus and all other files; "" = where the system has temporary files
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
	Uploads          int // of files to a server, each way
	Rows             int // written to a database
	ThreadsLimit     int // of the program that is to be stopped for having too many; 0 = Go's own, 10,000
}

// ClaimsQuick is what takes a minute or so with 2 processors, ClaimsFull what comes
// near the articles.
func ClaimsQuick() ClaimSizes {
	return ClaimSizes{
		Cases: 100, CaseBytes: 20 << 10, Tasks: 200_000, Items: 100_000, Roots: 5_000_000,
		Alive: 30_000, Goroutines: 1_000_000, Renames: 10_000, Uploads: 2_000, Rows: 1_000,
	}
}

// ClaimsFull is the sizes of the articles, but for the corpus, which is a fifteenth, and the
// tasks and the uploads, which are a tenth.
func ClaimsFull() ClaimSizes {
	return ClaimSizes{
		Cases: 1_000, CaseBytes: 67 << 10, Tasks: 10_000_000, Items: 1_000_000, Roots: 500_000_000,
		Alive: 1_000_000, Goroutines: 1_000_000, Renames: claimRenames, Uploads: 20_000, Rows: 20_000,
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
	folder, err := folderFor(o.Dir)
	if err != nil {
		return nil, err
	}
	plan, err := run.New(&o.Options, "claims", results.Pair{Key: "sizes", Value: fmt.Sprintf("%+v", o.Sizes)}, results.Pair{Key: "dir", Value: folder})
	if err != nil {
		return nil, err
	}
	p := planner{plan}
	dir, err := os.MkdirTemp(o.Dir, "muster-lab-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}()
	if err := p.addCorpus(ctx, dir, o); err != nil {
		return p.Results, err
	}
	if err := p.addClaimPeers(ctx, o.Sizes); err != nil {
		return p.Results, err
	}
	p.addClaimChannels(o.Sizes)
	p.addClaimSpawn(o.Sizes)
	for _, folders := range renameDirs() {
		t := p.renames(o.Dir, o.Sizes.Renames, folders)
		if o.Sizes.Renames < claimRenames {
			t.Times = 2 // so few cannot tell anyway
		}
		p.Add(t)
	}
	p.addUploads(o)
	p.addExhaust(o.Probe, o.Sizes.ThreadsLimit)
	end, err := p.addWriters(ctx, claimWriters(o.Sizes), o.Sizes.Rows, o.Dir)
	if err != nil {
		return p.Results, err
	}
	return p.Results, errors.Join(p.Measure(ctx), end())
}

// addClaimPeers adds what contestants are needed for: those that the articles had.
func (p planner) addClaimPeers(ctx context.Context, sizes ClaimSizes) error {
	dispatching, err := p.Compile(ctx, native.Dispatch, []string{"article", "cpp-boost"})
	if err != nil {
		return err
	}
	for _, one := range dispatching {
		p.addDispatch(one, "single", claimJobs, sizes.Tasks, []int{1, claimJobs})
	}
	codecs, err := p.Compile(ctx, native.Codec, []string{"protobuf", "json"})
	if err != nil {
		return err
	}
	for _, one := range codecs {
		p.Add(echo(one, claimMessages))
	}
	erlang, err := p.Compile(ctx, native.Spawn, []string{"erlang"})
	if err != nil {
		return err
	}
	for _, one := range erlang {
		t := one.Trial(SpawnName(one.Impl, "waiting", 1, sizes.Goroutines, 0), time.Duration(sizes.Goroutines)*peerCost(one.Impl),
			"-mode", "waiting", "-work", "1", "-count", strconv.Itoa(sizes.Goroutines))
		t.Times = 1
		p.Add(t)
	}
	return nil
}

// addClaimChannels adds what is measured of channels and of GOMAXPROCS.
func (p planner) addClaimChannels(sizes ClaimSizes) {
	for _, procs := range claimProcs() {
		p.addChannel(sizes.Items, 0, 0, procs, 0)
	}
	for _, cycles := range claimCycles()[1:] {
		for _, procs := range []int{1, 2} {
			p.addChannel(min(sizes.Items, max(claimTurns/cycles, 1)), 0, cycles, procs, 0)
		}
	}
	if n := processors(); n > 1 {
		p.addChannel(sizes.Items, 0, 0, 1, 1)
		p.addChannel(sizes.Items, 0, 0, 1, min(n, run.ProcessesMax))
	}
	for _, procs := range []int{0, 300} {
		t := p.Probe(procsName(procs), 10*time.Millisecond, "procs")
		t.Procs, t.Times = procs, 1
		p.Add(t)
	}
}

// procsName is the name of the GOMAXPROCS that a process has that asked for so many; 0 is
// for none.
func procsName(asked int) string { return fmt.Sprintf("Procs/asked=%d", asked) }

// addClaimSpawn adds what is measured of goroutines.
func (p planner) addClaimSpawn(sizes ClaimSizes) {
	for _, procs := range []int{1, 2} {
		for _, work := range claimWork() {
			p.Add(p.spawn("direct", work, claimCalls(sizes, work), procs))
			p.Add(p.spawn("each", work, claimCount(sizes, work), procs))
		}
	}
	if sizes.Goroutines >= claimManyRoot {
		t := p.spawn("each", 10, claimManyRoot, 1)
		t.Times = 1 // a second or more
		p.Add(t)
	}
	t := p.waiting(sizes.Goroutines)
	t.Times = 1
	p.Add(t)
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
