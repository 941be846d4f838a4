package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Threads selects how the server's system threads are counted. The zero value does not count
// them.
type Threads struct {
	// Admin is the address of the server's metrics, such as http://127.0.0.1:9998. Its
	// /metrics must contain muster_os_threads.
	Admin string

	// PID is a process on this machine, which is counted with its descendants. Ignored if
	// Admin is set. Linux only.
	PID int
}

// threadMetric is the server's gauge of its threads.
const threadMetric = "muster_os_threads"

// Reading a server's metrics costs the server time. Reading the kernel's figures does not.
const (
	adminEvery = 100 * time.Millisecond
	pidEvery   = 20 * time.Millisecond
	// familyEvery is how often new child processes are searched.
	familyEvery = time.Second
	// adminPatience is how long a server may take to answer with its metrics.
	adminPatience = 10 * time.Second
)

// threadWatch counts threads repeatedly until it is ended.
type threadWatch struct {
	last, most atomic.Int64
	cancel     context.CancelFunc
	done       sync.WaitGroup
}

// watch starts counting, and fails if counting is not possible. The end of the context ends
// only the first count. The watch must continue until the requests have ended and are summed
// up.
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
	if err := w.update(ctx, count); err != nil {
		cancel()
		return nil, err
	}
	w.done.Go(func() { w.loop(alive, every, count) })
	return w, nil
}

// counter counts threads.
type counter func(context.Context) (int, error)

func (w *threadWatch) update(ctx context.Context, count counter) error {
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
		// If a count fails the server is busy or gone. Its requests will show which.
		_ = w.update(ctx, count)
	}
}

func (w *threadWatch) now() int  { return int(w.last.Load()) }
func (w *threadWatch) peak() int { return int(w.most.Load()) }

func (w *threadWatch) end() {
	w.cancel()
	w.done.Wait()
}

// adminThreads reads the number of threads from a server's metrics.
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
	lines := bufio.NewScanner(answer.Body)
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
