package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"time"
)

// lendGrace is how long after the end of a borrower an interrupt still counts as the
// borrower's. Both processes get it, and the borrower may end before this one does.
const lendGrace = time.Second

// A lender ends a context by signals, as main does, but ignores Ctrl-C while another program
// has the terminal: then the interrupt is for that program. A command that lends its terminal
// uses this context instead of main's, which any Ctrl-C ends.
type lender struct {
	signals chan os.Signal
	closing sync.Once
	done    chan struct{} // closed when watch has ended
	end     context.CancelFunc

	mu    sync.Mutex
	lent  bool
	until time.Time // interrupts before that time are the borrower's too
	taken bool      // an interrupt was the borrower's
}

// lending returns a lender and its context, a child of ctx. Callers must close the lender.
func lending(ctx context.Context) (context.Context, *lender) {
	own, end := context.WithCancel(context.WithoutCancel(ctx))
	l := &lender{signals: make(chan os.Signal, 1), done: make(chan struct{}), end: end}
	if wanted := endingSignals(); len(wanted) > 0 {
		signal.Notify(l.signals, wanted...)
	}
	if ctx.Err() != nil {
		end()
	}
	go l.watch()
	return own, l
}

// close ends the context. Every signal that arrived before counts: Stop waits until the runtime
// has delivered it.
func (l *lender) close() {
	l.closing.Do(func() {
		signal.Stop(l.signals)
		close(l.signals) // nothing sends after Stop
		<-l.done
		l.end()
	})
}

// watch ends the context at the first signal that is not a borrower's. A further signal then
// ends the program at once.
func (l *lender) watch() {
	defer close(l.done)
	for s := range l.signals {
		if s != os.Interrupt || !l.spares(time.Now()) {
			signal.Stop(l.signals)
			l.end()
		}
	}
}

func (l *lender) spares(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lent || now.Before(l.until) {
		l.taken = true
		return true
	}
	return false
}

// interrupted reports whether an interrupt was a borrower's. Call it after close, so that all
// signals have arrived.
func (l *lender) interrupted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

// lend leaves Ctrl-C to another program until back is called.
func (l *lender) lend() (back func()) {
	l.set(true)
	return func() { l.set(false) }
}

func (l *lender) set(lent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent, l.until = lent, time.Now().Add(lendGrace)
}
