package pool_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"muster/pool"
)

func TestCloseDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := pool.New(2, func(int) { <-gate })
		p.SubmitN(make([]int, 100))
		var closed atomic.Int64
		for range 3 {
			go func() {
				p.Close()
				closed.Add(1)
			}()
		}
		synctest.Wait()
		if closed.Load() > 0 {
			t.Error("Close returned while tasks were left")
		}
		close(gate)
		p.Close()
		synctest.Wait()
		if closed.Load() != 3 {
			t.Errorf("%d of 3 Closes returned", closed.Load())
		}
		if done := p.Stats().Done; done != 100 {
			t.Errorf("%d tasks done, want 100", done)
		}
	})
}

func TestSubmitAfterClose(t *testing.T) {
	p := pool.New(1, func(int) { t.Error("a task ran on a closed pool") })
	p.Close()
	for method, submit := range map[string]func(){
		"Submit":  func() { p.Submit(1) },
		"SubmitN": func() { p.SubmitN([]int{1, 2}) },
	} {
		if got, want := panicOf(submit), "pool: "+method+" on a closed pool"; got != want {
			t.Errorf("%s panicked with %q, want %q", method, got, want)
		}
	}
	if p.TrySubmit(1) {
		t.Error("TrySubmit was accepted by a closed pool")
	}
	if err := p.SubmitContext(t.Context(), 1); !errors.Is(err, pool.ErrClosed) {
		t.Errorf("SubmitContext = %v, want ErrClosed", err)
	}
}

func TestCloseDuringSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := pool.New(1, func(int) { <-gate }, pool.Queue(1))
		p.SubmitN([]int{1, 2})
		refused := make(chan string, 3)
		go func() { refused <- panicOf(func() { p.Submit(3) }) }()
		go func() { refused <- panicOf(func() { p.SubmitN([]int{4, 5}) }) }()
		go func() { refused <- fmt.Sprint(p.SubmitContext(t.Context(), 6)) }()
		synctest.Wait()
		go p.Close()
		for range 3 {
			if why := <-refused; !strings.Contains(why, "closed") {
				t.Errorf("a blocked submission ended with %q when the pool was closed", why)
			}
		}
		close(gate)
		p.Close()
		if done := p.Stats().Done; done != 2 {
			t.Errorf("%d tasks done, want the 2 that were queued", done)
		}
	})
}

// Whenever Close is called, accepted tasks are done and refused tasks are not.
func TestCloseAmidSubmissions(t *testing.T) {
	for range 200 {
		synctest.Test(t, closeAmidSubmissions)
	}
}

func closeAmidSubmissions(t *testing.T) {
	var done, accepted atomic.Int64
	underWay := make(chan struct{})
	p := pool.New(2, func(int) {
		if done.Add(1) == 20 {
			close(underWay)
		}
	}, pool.Queue(2))
	var producers sync.WaitGroup
	for range 4 {
		producers.Go(func() {
			for p.SubmitContext(t.Context(), 1) == nil {
				accepted.Add(1)
			}
		})
	}
	<-underWay
	p.Close()
	producers.Wait()
	if p.TrySubmit(1) {
		t.Error("a closed pool has room again")
	}
	if done.Load() != accepted.Load() {
		t.Errorf("%d tasks accepted, %d done", accepted.Load(), done.Load())
	}
}

func TestArguments(t *testing.T) {
	handler := func(int) {}
	cases := []struct {
		name string
		call func()
		want string
	}{
		{"New with 0 workers", func() { pool.New(0, handler) }, "pool: 0 workers: at least 1 is needed"},
		{"New with -1 workers", func() { pool.New(-1, handler) }, "pool: -1 workers: at least 1 is needed"},
		{"New without handler", func() { pool.New[int](1, nil) }, "pool: New needs a handler"},
		{"Queue(0)", func() { pool.Queue(0) }, "pool: Queue(0): a queue needs at least 1 place"},
		{"ForEach with 0 workers", func() { _ = pool.ForEach[int](t.Context(), 0, nil, nil) }, "pool: 0 workers: at least 1 is needed"},
	}
	for _, c := range cases {
		if got := panicOf(c.call); got != c.want {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
	}
}

// The largest queue needs no memory for values without size.
func TestQueueMax(t *testing.T) {
	p := pool.New(1, func(struct{}) {}, pool.Queue(math.MaxInt))
	p.Submit(struct{}{})
	p.Close()
}

// panicOf returns what f panics with, or "" if it does not.
func panicOf(f func()) (message string) {
	defer func() {
		if cause := recover(); cause != nil {
			message = fmt.Sprint(cause)
		}
	}()
	f()
	return ""
}
