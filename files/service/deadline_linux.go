package service

import (
	"sync"
	"time"
)

// A deadline of one direction of a connection. net/http and package pace set several for each
// request, and few calls wait. So only a call that waits sets the timer. The timer may end
// before the deadline, and is then set again.
type deadline struct {
	set func(time.Time) error // sets the timer

	mu      sync.Mutex
	at      time.Time // zero = none
	barred  bool      // at had passed when it was set, or has ended a call
	timer   time.Time // zero = not set
	waiting bool      // a call may be waiting
}

// change sets the deadline, also of a call that is waiting.
func (d *deadline) change(at time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = at
	d.barred = d.hasPassed()
	if !d.waiting {
		return nil
	}
	return d.setTimer()
}

func (d *deadline) setTimer() error {
	d.timer = d.at
	return d.set(d.at)
}

// wait is called before a call waits.
func (d *deadline) wait() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = true
	if !d.at.IsZero() && (d.timer.IsZero() || d.timer.After(d.at)) {
		_ = d.setTimer() // it fails if the connection is closed, and then the call does too
	}
}

// waited is called after a call that may have waited.
func (d *deadline) waited() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = false
}

// bar allows no further call until the deadline is changed.
func (d *deadline) bar() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.barred = d.hasPassed()
}

// bars reports whether no call is allowed.
func (d *deadline) bars() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.barred
}

// passed reports whether the deadline has passed.
func (d *deadline) passed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hasPassed()
}

func (d *deadline) hasPassed() bool { return !d.at.IsZero() && time.Until(d.at) <= 0 }

// renew sets the timer again, after it has ended.
func (d *deadline) renew() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.setTimer()
}
