package pool_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/pool"
)

// longMax bounds the wait for a condition. Only in broken code it is never met.
const longMax = 20 * time.Second

// eventually waits until the condition holds. Checking it must have no effect.
func eventually(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(longMax); !yes(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not so after %v", what, longMax)
		}
	}
}

// A bubble fails when a goroutine leaks. This test checks the same without a bubble.
func TestNoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	gate := make(chan struct{})
	p := pool.New(50, func(int) { <-gate }, pool.Queue(1))
	p.SubmitN(make([]int, 51))
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error)
	go func() { cancelled <- p.SubmitContext(ctx, 52) }()
	cancel()
	<-cancelled
	close(gate)
	p.Close()
	err := pool.ForEach(t.Context(), 50, make([]int, 1000), func(context.Context, int) error { return context.Canceled })
	if err == nil {
		t.Error("ForEach returned no error")
	}
	eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before })
}

// A handler that calls Goexit, as t.FailNow does, must not cost a worker.
func TestGoexitEndsTheTaskOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var after atomic.Int64
		p := pool.New(2, func(n int) {
			if n%2 == 0 {
				runtime.Goexit()
			}
			after.Add(1)
		}, pool.Queue(1))
		for n := range 20 {
			p.Submit(n)
		}
		p.Wait()
		if s := p.Stats(); s.Done != 20 || s.Running != 0 {
			t.Errorf("%+v, want 20 tasks done", s)
		}
		p.Close()
		if after.Load() != 10 {
			t.Errorf("%d handlers returned, want 10", after.Load())
		}
	})
}

// panicCase is the variable that selects what panics in the process that this test starts.
const panicCase = "POOL_TEST_PANIC"

// The program must crash with the handler in the trace, although its main waits for that
// task and would then exit with 0.
func TestPanicEndsTheProgram(t *testing.T) {
	ways := waysToPanic()
	if run, ok := ways[os.Getenv(panicCase)]; ok {
		run(t.Context())
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name := range ways {
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestPanicEndsTheProgram$")
		cmd.Env = append(os.Environ(), panicCase+"="+name)
		output, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%s: the program went on after a panic:\n%s", name, output)
		}
		for _, want := range []string{"panic: the handler's own", "pool_test.explode"} {
			if !strings.Contains(string(output), want) {
				t.Errorf("%s: the report lacks %q:\n%s", name, want, output)
			}
		}
	}
}

func waysToPanic() map[string]func(context.Context) {
	return map[string]func(context.Context){
		"pool": func(context.Context) {
			p := pool.New(1, explode)
			p.Submit(1)
			p.Wait()
			p.Close()
		},
		"foreach": func(ctx context.Context) {
			_ = pool.ForEach(ctx, 1, []int{1}, func(_ context.Context, n int) error {
				explode(n)
				return nil
			})
		},
	}
}

//go:noinline
func explode(int) { panic("the handler's own") }

// submitCollectable is a separate function, so that no variable of its caller keeps the value
// alive.
func submitCollectable(p *pool.Pool[*[1 << 20]byte], freed chan struct{}) {
	p.Submit(collectable(freed))
}

// collectable returns a value whose collection closes freed.
//
//go:noinline
func collectable(freed chan struct{}) *[1 << 20]byte {
	v := new([1 << 20]byte)
	runtime.AddCleanup(v, func(freed chan struct{}) { close(freed) }, freed)
	return v
}

func awaitCollection(t *testing.T, freed chan struct{}) {
	t.Helper()
	eventually(t, "the value is collected", func() bool {
		runtime.GC()
		select {
		case <-freed:
			return true
		default:
			return false
		}
	})
}
