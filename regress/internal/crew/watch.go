package crew

import (
	"sync"
	"time"

	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/report"
)

// watch emits the state of an engine every second, from the first request to the last: the
// user sees that work goes on. Several goroutines may call its methods.
type watch struct {
	emit    func(report.Event)
	command string // name of the run's command

	mu        sync.Mutex // guards what follows
	isActive  bool
	doing     string            // before the first case
	conn      *reapi.Connection // nil until it is known
	isRunning bool              // cases run
	state     func() reapi.State
	stop      chan struct{}
	emitting  sync.WaitGroup
}

// watchEvery is often enough for eyes, and does not fill a file of events.
const watchEvery = time.Second

// begin reports what is done now. While cases run it does nothing: the command of a few cases
// may be prepared meanwhile.
func (w *watch) begin(doing string) {
	if w.setDoing(doing) {
		w.report()
	}
}

// setDoing notes what is done now, and starts the ticks. It returns false while cases run.
func (w *watch) setDoing(doing string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isRunning {
		return false
	}
	w.doing = doing
	if !w.isActive {
		w.isActive, w.stop = true, make(chan struct{})
		stop := w.stop
		w.emitting.Go(func() { w.tick(stop) })
	}
	return true
}

// connected sets the connection whose traffic is reported.
func (w *watch) connected(c *reapi.Connection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = c
}

// running notes that cases run from here on.
func (w *watch) running(e *reapi.Engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isRunning, w.state, w.doing = true, e.State, ""
}

// end returns when no event will be emitted any more, until the watch begins again.
func (w *watch) end() {
	w.mu.Lock()
	if w.isActive {
		close(w.stop)
	}
	w.isActive, w.conn, w.isRunning = false, nil, false
	w.mu.Unlock()
	w.emitting.Wait()
}

func (w *watch) tick(stop chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			w.report()
		}
	}
}

// report emits the present state.
func (w *watch) report() {
	if e, ok := w.event(); ok {
		w.emit(e)
	}
}

func (w *watch) event() (e report.Engine, isActive bool) {
	w.mu.Lock()
	isActive, isRunning, state, conn := w.isActive, w.isRunning, w.state, w.conn
	e = report.Engine{Command: w.command, Doing: w.doing, At: time.Now()}
	w.mu.Unlock()
	if !isActive {
		return e, false
	}
	if isRunning {
		now := state()
		e.InFlight, e.Queued, e.Running = now.InFlight, now.Queued, now.Running
	}
	if conn != nil {
		e.Sent, e.Received = conn.Traffic()
	}
	return e, true
}
