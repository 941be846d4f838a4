package pooled

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio"
)

// held is an engine whose jobs begin, and end when they are let go.
type held struct {
	*Engine
	begun, let chan struct{}
}

func newHeld(t *testing.T, o Options) *held {
	t.Helper()
	h := &held{begun: make(chan struct{}, 100), let: make(chan struct{}, 100)}
	e, err := start(o, func(*fileio.Job) error {
		h.begun <- struct{}{}
		<-h.let
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Engine = e
	return h
}

// Beyond those that may wait a job is refused at once, but for one that has begun; and
// what waited too long has not been done.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld(t, Options{Threads: 1, Light: 1, WaitingMax: 2, WaitMax: time.Second})
		defer h.Close()
		var jobs sync.WaitGroup
		do := func(j fileio.Job, want error) {
			jobs.Go(func() {
				if err := h.Do(t.Context(), &j); !errors.Is(err, want) || (want == nil && err != nil) {
					t.Errorf("%+v: %v, want %v", j, err, want)
				}
			})
			synctest.Wait()
		}
		do(fileio.Job{Op: fileio.OpPut}, nil) // is executed
		do(fileio.Job{Op: fileio.OpPut}, fileio.ErrBusy)
		do(fileio.Job{Op: fileio.OpGet}, fileio.ErrBusy)     // these two wait for too long
		do(fileio.Job{Op: fileio.OpList}, fileio.ErrBusy)    // is one too many
		do(fileio.Job{Op: fileio.OpStat}, nil)               // does not wait behind them
		do(fileio.Job{Op: fileio.OpWrite, Begun: true}, nil) // waits for a place
		if s := h.Stats(); s.Refused != 1 || s.Waiting != 2 || s.Running != 2 || s.Threads != 2 {
			t.Errorf("%+v", s)
		}
		<-time.After(2 * time.Second) // by the clock of the bubble
		if s := h.Stats(); s.Refused != 3 {
			t.Errorf("%+v", s)
		}
		for range 3 {
			h.let <- struct{}{}
		}
		jobs.Wait()
		if n := len(h.begun); n != 3 {
			t.Errorf("%d jobs were begun", n)
		}
		if s := h.Stats(); s.Done != 3 || s.Waiting != 0 || s.Running != 0 || s.Wait < 2*time.Second || s.Service < 2*time.Second {
			t.Errorf("%+v", s)
		}
	})
}

// Who goes away while waiting leaves at once; who goes away later is kept until it is done,
// for the data is theirs.
func TestGoneAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld(t, Options{Threads: 1})
		defer h.Close()
		ctx, leave := context.WithCancel(t.Context())
		results := make(chan error, 2)
		for range 2 {
			go func() { results <- h.Do(ctx, &fileio.Job{Op: fileio.OpPut}) }()
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that waits: %v", err)
		}
		select {
		case err := <-results:
			t.Errorf("the one that is executed has returned: %v", err)
		default:
		}
		h.let <- struct{}{}
		if err := <-results; err != nil {
			t.Error(err)
		}
	})
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Threads: -1}, {Threads: ThreadsMax + 1}, {Threads: 1, Light: -1}, {Threads: 1, WaitingMax: -1}} {
		if e, err := New(o); err == nil {
			t.Errorf("%+v is no error: %v", o, e.Close())
		}
	}
}
