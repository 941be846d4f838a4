package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Threads says how the threads are counted that a server has from the system. The zero
// value does not.
type Threads struct {
	// Admin is the address of a server's figures, as http://127.0.0.1:9998, whose /metrics
	// has muster_os_threads.
	Admin string

	// PID is that of a process on this machine, which is counted with all that it has
	// started; where Admin is not given. Linux only.
	PID int
}

// threadMetric is the gauge that a server has of its threads.
const threadMetric = "muster_os_threads"

// Each look at a server's figures costs it something; a look at the kernel's, nothing.
const (
	adminEvery = 100 * time.Millisecond
	pidEvery   = 20 * time.Millisecond
	// familyEvery is how often processes are sought that were started since.
	familyEvery = time.Second
	// adminPatience is how long a server may take to tell its figures.
	adminPatience = 10 * time.Second
)

// threadWatch counts threads again and again until it is ended.
type threadWatch struct {
	last, most atomic.Int64
	cancel     context.CancelFunc
	done       sync.WaitGroup
}

// watch begins to count, and fails where that is not possible. The end of the context ends
// the first look alone: what is counted belongs to requests that end with it, and are
// summed up then.
func (t Threads) watch(ctx context.Context) (*threadWatch, error) {
	alive, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &threadWatch{cancel: cancel}
	var count counter
	every := adminEvery
	switch {
	case t.Admin != "":
		count = func(ctx context.Context) (int, error) { return adminThreads(ctx, t.Admin) }
	case t.PID != 0:
		f := &family{root: t.PID}
		count, every = func(context.Context) (int, error) { return f.threads() }, pidEvery
	default:
		return w, nil
	}
	if err := w.look(ctx, count); err != nil {
		cancel()
		return nil, err
	}
	w.done.Go(func() { w.loop(alive, every, count) })
	return w, nil
}

// counter counts threads.
type counter func(context.Context) (int, error)

func (w *threadWatch) look(ctx context.Context, count counter) error {
	n, err := count(ctx)
	if err != nil {
		return err
	}
	w.last.Store(int64(n))
	w.most.Store(max(w.most.Load(), int64(n)))
	return nil
}

func (w *threadWatch) loop(ctx context.Context, every time.Duration, count counter) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// One that does not answer is busy, or gone, which its requests will tell.
		_ = w.look(ctx, count)
	}
}

func (w *threadWatch) now() int  { return int(w.last.Load()) }
func (w *threadWatch) peak() int { return int(w.most.Load()) }

func (w *threadWatch) end() {
	w.cancel()
	w.done.Wait()
}

// metricsMax is how much of a server's figures is read.
const metricsMax = 8 << 20

// adminThreads asks a server for its threads.
func adminThreads(ctx context.Context, admin string) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, adminPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(admin, "/")+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", r.URL, answer.Status)
	}
	lines := bufio.NewScanner(io.LimitReader(answer.Body, metricsMax))
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), threadMetric+" ")
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", r.URL, err)
		}
		n = int(v)
	}
	if n == 0 && lines.Err() == nil {
		return 0, fmt.Errorf("%s has no %s: it is not the --admin address of muster serve", r.URL, threadMetric)
	}
	return n, lines.Err()
}
