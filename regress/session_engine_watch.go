package regress

import (
	"sync"
	"time"

	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/report"
)

// engineWatch tells now and then how it stands with an engine, from the first request to
// the last: what takes long shows that it goes on. Its methods may be called by any goroutine.
type engineWatch struct {
	mu     sync.Mutex
	s      *session // nil while it tells nothing
	doing  string
	conn   *reapi.Connection // nil until there is one
	engine *reapi.Engine     // nil before the first case
	stop   chan struct{}
	told   sync.WaitGroup
}

// engineWatchEvery is often enough for eyes, and does not fill a file of events.
const engineWatchEvery = time.Second

// begin says what is done now.
func (w *engineWatch) begin(s *session, doing string) {
	if w.beginOn(s, doing) {
		w.tell()
	}
}

// beginOn is false while cases run, and a command of a few of them is made ready beside.
func (w *engineWatch) beginOn(s *session, doing string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.engine != nil {
		return false
	}
	w.doing = doing
	if w.s == nil {
		w.s, w.stop = s, make(chan struct{})
		stop := w.stop
		w.told.Go(func() { w.follow(stop) })
	}
	return true
}

// connected says over what requests go from here on.
func (w *engineWatch) connected(c *reapi.Connection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = c
}

// running says that cases run from here on.
func (w *engineWatch) running(e *reapi.Engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.engine, w.doing = e, ""
}

// end returns when nothing will be told any more, unless it begins again.
func (w *engineWatch) end() {
	w.mu.Lock()
	if w.s != nil {
		close(w.stop)
	}
	w.s, w.conn, w.engine = nil, nil, nil
	w.mu.Unlock()
	w.told.Wait()
}

func (w *engineWatch) follow(stop chan struct{}) {
	tick := time.NewTicker(engineWatchEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			w.tell()
		}
	}
}

func (w *engineWatch) tell() {
	w.mu.Lock()
	s, c, e := w.s, w.conn, w.engine
	ev := report.Engine{Doing: w.doing, At: time.Now()}
	w.mu.Unlock()
	if s == nil {
		return
	}
	ev.Command = s.name
	if e != nil {
		now := e.State()
		ev.Doing, ev.InFlight, ev.Queued, ev.Running = "", now.InFlight, now.Queued, now.Running
	}
	if c != nil {
		ev.Sent, ev.Received = c.Traffic()
	}
	s.events.Emit(ev)
}
