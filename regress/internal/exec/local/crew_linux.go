package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/internal/cgroup"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/lane"
)

// Crew is a set of running lanes. Its methods may be called from several goroutines at once.
type Crew struct {
	o     Options
	base  *base
	mode  *mode
	setup lane.Setup // common to all lanes
	lanes []*worker

	limits     []lane.Limit // of cases, where theirs are not those of this process
	limitsText string       // of cases

	refusals *cgroup.Refusals // of processes, by this program's control groups

	started        atomic.Int64 // helpers so far
	freshRoots     atomic.Int64 // folders that replaced the usual folder of a lane
	helperCPU      atomic.Int64 // ns of CPU time of the helpers themselves
	floor          atomic.Int64 // KiB, the highest of the helpers' floors
	inotifyWarning sync.Once    // given once
	threads        sync.Mutex   // held by operations that take a thread: to start a helper, to reap it

	countUserThreads func() int64 // threads of the user before there were cases, counted once

	mu     sync.Mutex
	freed  *sync.Cond
	idle   []*worker
	closed bool // no case begins any more
}

// Start starts the lanes. If it returns an error, it leaves nothing behind.
func Start(ctx context.Context, o Options) (*Crew, error) {
	if err := checkOptions(&o); err != nil {
		return nil, err
	}
	c := &Crew{o: o, countUserThreads: sync.OnceValue(func() int64 { return threadsOfOthers(os.Getuid()) + ownThreads() })}
	c.freed = sync.NewCond(&c.mu)
	visible, err := visibleEntries(o.textsOfCases())
	if err != nil && !o.plain {
		return nil, err
	}
	if c.base, err = newBase(&o); err != nil {
		return nil, err
	}
	c.setup = lane.Setup{
		Env: environment(o.Env), Visible: visible, Given: items(o.Corpus.Given()),
		Timeout: o.Timeout, Grace: o.Grace, Patience: o.patience.kill, MemoryMax: o.MemoryMax, OutputMax: o.OutputMax,
		ProcessesMax: o.processes, Keep: o.Keep != "", NoNetwork: o.NoNetwork, Shim: o.Shim,
	}
	c.refusals = cgroup.OpenRefusals("/proc")
	c.chooseLimits()
	if err = c.checkPrograms(); err == nil {
		err = c.startLanes(ctx)
	}
	if err != nil {
		return nil, errors.Join(withProcessesMend(err), c.Close())
	}
	return c, nil
}

// textsOfCases returns all texts whose paths cases can use.
func (o *Options) textsOfCases() []string {
	texts := append(slices.Clone(o.Visible), o.Shim)
	if dir, err := os.Getwd(); err == nil {
		texts = append(texts, dir)
	}
	for _, kv := range environment(o.Env) {
		_, value, _ := strings.Cut(kv, "=")
		texts = append(texts, value)
	}
	return texts
}

func checkOptions(o *Options) error {
	switch {
	case o.Lanes < 1 || o.Lanes > LanesMax:
		return fault.Inputf("%d lanes: from 1 to %d are possible", o.Lanes, LanesMax)
	case len(o.Helper) == 0 || o.Timeout <= 0 || o.OutputMax <= 0:
		return fault.Environmentf("lanes need a helper, a time limit and an output limit")
	}
	if o.patience == (patience{}) {
		o.patience = usualPatience()
	}
	if o.processes == 0 {
		o.processes = processesMax()
	}
	for _, hear := range []*func(string){&o.Note, &o.Warn} {
		if *hear == nil {
			*hear = func(string) {}
		}
	}
	if o.Keep == "" {
		return nil
	}
	var err error
	if o.Keep, err = filepath.Abs(o.Keep); err != nil {
		return fault.Environmentf("--keep: %w", err)
	}
	return exec.MakeKept(o.Keep)
}

// startLanes starts the first lane alone, which finds out what the kernel permits. Then it
// starts the others side by side.
func (c *Crew) startLanes(ctx context.Context) error {
	for n := range c.o.Lanes {
		c.lanes = append(c.lanes, &worker{crew: c, number: n})
	}
	c.idle = slices.Clone(c.lanes)
	if err := c.startFirst(ctx); err != nil {
		return err
	}
	errs := make([]error, c.o.Lanes)
	var wg sync.WaitGroup
	gate := make(chan struct{}, 8) // a lane's start mostly copies the given files
	for n := 1; n < c.o.Lanes; n++ {
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			errs[n] = c.lanes[n].start(ctx, c.mode)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// warnNoInotify warns that a lane has no inotify: once, however many lanes and cases find that
// out.
func (c *Crew) warnNoInotify() {
	c.inotifyWarning.Do(func() {
		c.o.Warn(fmt.Sprintf("not all of %d lanes have inotify, and those without take longer over every case: raise fs.inotify.max_user_instances or max_user_watches, or use fewer --jobs", c.o.Lanes))
	})
}

// Kind describes what the lanes have in common: how they are kept apart, and where they work.
func (c *Crew) Kind() string {
	if c.base.inMemory() {
		return c.mode.name + ", in memory"
	}
	return c.mode.name + ", on disk"
}

// Limits lists the limits that cases get, in the words of prlimit(1). It leaves out unlimited resources.
func (c *Crew) Limits() string { return c.limitsText }

// Floor returns the lowest peak memory of a case that can be measured, in KiB: the largest
// size of a helper, because helpers start the cases.
func (c *Crew) Floor() int64 { return c.floor.Load() }

// OwnCPU returns the CPU time of the lane helpers, without their cases' processes: of each
// helper until its last answer.
func (c *Crew) OwnCPU() time.Duration { return time.Duration(c.helperCPU.Load()) }

// errClosed reports that a case came after Close.
var errClosed = errors.New("the lanes have ended, and run no more cases")

// acquire waits for an idle lane. It avoids one lane, if the crew has another.
func (c *Crew) acquire(ctx context.Context, avoid int) (*worker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for waiting := false; ; waiting = true {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.closed {
			return nil, errClosed
		}
		i := slices.IndexFunc(c.idle, func(w *worker) bool { return w.number != avoid || c.o.Lanes == 1 })
		if i >= 0 {
			w := c.idle[i]
			c.idle = slices.Delete(c.idle, i, i+1)
			return w, nil
		}
		if !waiting {
			defer context.AfterFunc(ctx, c.wakeAll)()
		}
		c.freed.Wait()
	}
}

func (c *Crew) wakeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freed.Broadcast()
}

func (c *Crew) release(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, w)
	// Signal might wake a goroutine that avoids this lane.
	c.freed.Broadcast()
}

// waitForCases lets no further case begin, and waits for those that run.
func (c *Crew) waitForCases() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.freed.Broadcast()
	for len(c.idle) < len(c.lanes) {
		c.freed.Wait()
	}
}

// Close waits for the cases that run, ends the lanes with every process that cases left, and
// removes the lanes' folders. A case that comes later gets an error.
func (c *Crew) Close() error {
	c.waitForCases()
	errs := make([]error, len(c.lanes))
	var wg sync.WaitGroup
	for i, w := range c.lanes {
		wg.Go(func() { _, errs[i] = w.end() })
	}
	wg.Wait()
	c.refusals.Close()
	if err := c.base.remove(); err != nil {
		c.o.Warn(fmt.Sprintf("the lanes' folders are not all removed: %v", err)) // a warning, because it changes no verdict
	}
	return errors.Join(errs...)
}

func items(entries []corpus.Entry) []lane.Item {
	list := make([]lane.Item, len(entries))
	for i, e := range entries {
		list[i] = item(e)
	}
	return list
}

func item(e corpus.Entry) lane.Item {
	return lane.Item{Name: e.Name, Target: e.Target(), Exec: e.Exec, Size: e.Size, Offset: e.Offset, Path: e.Path}
}

// environment returns the environment of a case; extra overrides the rest.
func environment(extra []string) []string {
	return exec.Environment([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + Canonical + "/home",
		"TMPDIR=" + Canonical + "/tmp",
	}, extra)
}

// replaceCanonical replaces the canonical path in texts by the real path of a lane without a
// mount namespace.
func replaceCanonical(env []string, root string) []string {
	moved := make([]string, len(env))
	for i, kv := range env {
		moved[i] = strings.ReplaceAll(kv, Canonical, root)
	}
	return moved
}
