package load

import (
	"context"
	"io"
	"sync"
	"time"
)

// run is the state of a load.
type run struct {
	o      Options
	target target
	jobs   source
	watch  *threadWatch
	record *recorder
	start  time.Time
}

func newRun(o Options, t target, w *threadWatch) *run {
	r := &run{o: o, target: t, watch: w, record: newRecorder(o.Connections), jobs: numbered(o.Op, o.Requests)}
	if o.Op == Clean {
		r.jobs = t.cleanJobs()
	}
	return r
}

// do makes the requests and returns the result.
func (r *run) do(ctx context.Context) *Result {
	r.start = time.Now()
	r.record.begin(r.start)
	done := make(chan struct{})
	var looking, workers sync.WaitGroup
	looking.Go(func() { r.observe(done) })
	for i := range r.o.Connections {
		workers.Go(func() { r.work(ctx, r.record.shard(i)) })
	}
	workers.Wait()
	wall := time.Since(r.start)
	close(done)
	looking.Wait()
	r.record.interval(r.start.Add(wall), r.watch.now())
	return r.result(ctx, wall)
}

// work makes one request after another over one connection.
func (r *run) work(ctx context.Context, s *shard) {
	l := r.target.connect()
	defer l.close()
	var j job
	for ctx.Err() == nil {
		err := r.jobs(ctx, &j)
		if err == io.EOF {
			return
		}
		if err != nil {
			if ctx.Err() == nil {
				s.failed(err)
			}
			return
		}
		due, ok := r.due(ctx, j.number)
		if !ok {
			return
		}
		err = l.do(ctx, &j)
		switch {
		case err == nil:
			s.succeeded(time.Since(due), j.files)
		case ctx.Err() == nil: // an aborted request counts neither as success nor as failure
			s.failed(err)
		}
	}
}

// due waits until a request is due and returns that time: with a rate, the time of its
// position, even if it has passed; otherwise now.
func (r *run) due(ctx context.Context, number int) (at time.Time, ok bool) {
	if r.o.Rate == 0 {
		return time.Now(), true
	}
	at = r.start.Add(time.Duration(float64(number) / r.o.Rate * float64(time.Second)))
	wait := time.Until(at)
	if wait <= 0 {
		return at, true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return at, true
	case <-ctx.Done():
		return at, false
	}
}

// The first intervals are shorter, so that short loads show a course.
const (
	intervalFirst = 250 * time.Millisecond
	firstTime     = 5 * time.Second
	intervalLater = time.Second
)

// observe divides the run into intervals and reports progress.
func (r *run) observe(done <-chan struct{}) {
	ticker := time.NewTicker(intervalFirst)
	defer ticker.Stop()
	slow := false
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		now := time.Now()
		r.record.interval(now, r.watch.now())
		if r.o.Progress != nil {
			r.o.Progress(r.progress(now.Sub(r.start)))
		}
		if !slow && now.Sub(r.start) >= firstTime {
			slow = true
			ticker.Reset(intervalLater)
		}
	}
}

func (r *run) progress(elapsed time.Duration) Progress {
	p := Progress{Done: r.record.succeeded + r.record.failed, Failed: r.record.failed, Elapsed: elapsed, Left: -1}
	if r.o.Op == Clean {
		return p
	}
	p.Total = int64(r.o.Requests)
	if p.Done > 0 {
		p.Left = time.Duration(float64(elapsed) * float64(p.Total-p.Done) / float64(p.Done))
	}
	return p
}

func (r *run) result(ctx context.Context, wall time.Duration) *Result {
	m := r.record
	result := &Result{
		Op: r.o.Op, Protocol: r.o.Protocol, URL: r.o.URL, Rate: r.o.Rate,
		Connections: r.o.Connections, Requests: int64(r.o.Requests), Size: r.o.Size,
		Succeeded: m.succeeded, Failed: m.failed, Failures: m.failures(), unreached: m.unreached,
		Wall: wall, Latency: latencyOf(m.total), ThreadsPeak: r.watch.peak(), Timeline: m.timeline,
	}
	if r.o.Op == Clean {
		result.Requests = m.succeeded + m.failed
	}
	result.Interrupted = ctx.Err() != nil && (r.o.Op == Clean || m.succeeded+m.failed < result.Requests)
	return result
}
