package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/lane"
)

// deathsMax is how often one case may lose its lane before the machine is
// taken to be broken.
const deathsMax = 3

// Crew is a set of running lanes. Its methods may be called from several
// goroutines at once.
type Crew struct {
	o     Options
	base  *base
	mode  *mode
	setup lane.Setup // what all lanes share

	started atomic.Int64 // helpers so far

	mu     sync.Mutex
	freed  *sync.Cond
	idle   []*worker
	all    []*worker
	closed bool
	own    time.Duration // CPU of helpers that are gone, their cases' apart
	cases  time.Duration // CPU of cases that ended
}

// Start brings up the lanes. When it returns an error nothing is left behind.
func Start(ctx context.Context, o Options) (*Crew, error) {
	if o.Lanes < 1 || o.Lanes > LanesMax {
		return nil, fault.Inputf("%d jobs: from 0 to %d are possible", o.Lanes, LanesMax)
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if err := checkKeep(&o); err != nil {
		return nil, err
	}
	c := &Crew{o: o}
	c.freed = sync.NewCond(&c.mu)
	var err error
	if c.base, err = newBase(&o); err != nil {
		return nil, err
	}
	c.setup = lane.Setup{
		Env: environment(o.Env), Given: items(o.Corpus.Given()),
		Timeout: o.Timeout, Grace: o.Grace, MemoryMax: o.MemoryMax, OutputMax: o.OutputMax, Keep: o.Keep != "",
	}
	if err := c.startLanes(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// checkKeep makes the folder that is to stay.
func checkKeep(o *Options) (err error) {
	if o.Keep == "" {
		return nil
	}
	if o.Keep, err = filepath.Abs(o.Keep); err != nil {
		return fault.Environmentf("--keep: %w", err)
	}
	if err := os.MkdirAll(o.Keep, 0o755); err != nil {
		return fault.Environmentf("--keep: %w", err)
	}
	entries, err := os.ReadDir(o.Keep)
	if err != nil {
		return fault.Environmentf("--keep: %w", err)
	}
	if len(entries) > 0 {
		return fault.Inputf("--keep %s: the folder is not empty; name a new one", o.Keep)
	}
	return nil
}

// startLanes starts the first lane alone, which finds out what the kernel
// grants, and then the others side by side.
func (c *Crew) startLanes(ctx context.Context) error {
	first, err := c.firstLane(ctx)
	if err != nil {
		return err
	}
	c.add(first)
	errs := make([]error, c.o.Lanes)
	var wg sync.WaitGroup
	gate := make(chan struct{}, 8) // a lane's start is mostly copying the given files
	for n := 1; n < c.o.Lanes; n++ {
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			w, err := c.startWorker(ctx, n, c.mode)
			if err != nil {
				errs[n] = err
				return
			}
			c.add(w)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *Crew) add(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, w)
	c.idle = append(c.idle, w)
}

// Floor returns the resident size, in KiB, below which a case's peak memory
// cannot be told: that of the helper that spawned it.
func (c *Crew) Floor() int64 { return c.all[0].floor }

// OwnCPU returns what the lane helpers that are gone took themselves, their
// cases' processes apart. It is complete after Close.
func (c *Crew) OwnCPU() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, c.own-c.cases)
}

// Run runs one case once. A lane that dies costs the case another start on a
// new lane; after deathsMax of them the error is of class Environment, as any
// other failure of the machine. When ctx ends, the case is killed.
func (c *Crew) Run(ctx context.Context, job exec.Job) (*exec.Result, error) {
	for died := 1; ; died++ {
		w, err := c.acquire(ctx, job.Avoid)
		if err != nil {
			return nil, err
		}
		r, err := w.run(ctx, &c.o, job)
		if err == nil {
			c.mu.Lock()
			c.cases += r.Cost.CPU
			c.mu.Unlock()
			c.release(w)
			return r, nil
		}
		if !errors.Is(err, errLaneDied) {
			c.release(w)
			return nil, err
		}
		if err := c.replace(ctx, w); err != nil {
			return nil, err
		}
		if died == deathsMax {
			return nil, fault.Environmentf("%w %d times", err, died)
		}
	}
}

// acquire waits for an idle lane other than avoid, if the crew has another.
func (c *Crew) acquire(ctx context.Context, avoid int) (*worker, error) {
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.freed.Broadcast()
	})
	defer stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.closed {
			return nil, fault.Environmentf("the lanes are closed")
		}
		i := slices.IndexFunc(c.idle, func(w *worker) bool { return w.number != avoid || c.o.Lanes == 1 })
		if i >= 0 {
			w := c.idle[i]
			c.idle = slices.Delete(c.idle, i, i+1)
			return w, nil
		}
		c.freed.Wait()
	}
}

func (c *Crew) release(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, w)
	// Not Signal: who wakes may have to avoid just this lane.
	c.freed.Broadcast()
}

// replace puts a new lane in the place of one that died. When ctx has ended,
// or the new one does not come up, the place stays empty and all who wait are
// told.
func (c *Crew) replace(ctx context.Context, dead *worker) error {
	cpu := dead.end()
	w, err := c.startWorker(ctx, dead.number, c.mode)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own += cpu
	i := slices.Index(c.all, dead)
	if err != nil {
		c.all = slices.Delete(c.all, i, i+1)
		c.closed = true
		c.freed.Broadcast()
		return err
	}
	c.all[i] = w
	c.idle = append(c.idle, w)
	c.freed.Broadcast()
	return nil
}

// Close ends the lanes, and with them every process of a case, and removes
// their folders. No Run may be under way.
func (c *Crew) Close() error {
	c.mu.Lock()
	c.closed = true
	all := c.all
	c.all, c.idle = nil, nil
	c.freed.Broadcast()
	c.mu.Unlock()
	for _, w := range all {
		w.hangUp()
	}
	for _, w := range all {
		cpu := w.end()
		c.mu.Lock()
		c.own += cpu
		c.mu.Unlock()
	}
	if err := c.base.remove(); err != nil {
		return fmt.Errorf("remove the lanes' folders: %w", err)
	}
	return nil
}

func items(entries []corpus.Entry) []lane.Item {
	list := make([]lane.Item, len(entries))
	for i, e := range entries {
		list[i] = item(e)
	}
	return list
}

func item(e corpus.Entry) lane.Item {
	return lane.Item{Name: e.Name, Target: e.Target, Exec: e.Exec, Size: e.Size, Offset: e.Offset, Path: e.Path}
}
