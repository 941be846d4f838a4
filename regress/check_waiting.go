package regress

import (
	"sync"
	"time"

	"muster/regress/internal/pass"
)

// waitingRoom holds cases that differed in the first pass, until a lane runs them again. It
// is bounded: a case that does not fit runs again after the pass.
type waitingRoom struct {
	room int // 0 = nothing runs again during the pass

	mu     sync.Mutex
	firsts []firstRun // in the order in which they came
}

// add adds a case if there is room.
func (w *waitingRoom) add(f firstRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.firsts) < w.room {
		w.firsts = append(w.firsts, f)
	}
}

// next takes out the case that has waited longest. While there is room for more, next takes
// the case only if it lasts as long as the next case of the pass: long cases begin first.
func (w *waitingRoom) next(long time.Duration, due pass.Durations) (f firstRun, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.firsts) == 0 || len(w.firsts) < w.room && due.Of(w.firsts[0].task.Index) < long {
		return f, false
	}
	f, w.firsts = w.firsts[0], w.firsts[1:]
	return f, true
}
