package pool_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"muster/pool"
)

const (
	benchWorkers = 2
	benchQueue   = 1024
	benchBatch   = 64
)

// trivial costs nearly nothing. The compiler cannot remove the call, because it does not know
// that no value is that large.
//
//go:noinline
func trivial(n int) {
	if n == math.MaxInt {
		panic("unreachable")
	}
}

// BenchmarkChannel measures the alternative: a channel with the same number of places.
func BenchmarkChannel(b *testing.B) {
	tasks := make(chan int, benchQueue)
	var workers sync.WaitGroup
	for range benchWorkers {
		workers.Go(func() {
			for n := range tasks {
				trivial(n)
			}
		})
	}
	for n := range b.N {
		tasks <- n
	}
	close(tasks)
	workers.Wait()
}

func benchmarkPool(b *testing.B, feed func(p *pool.Pool[int])) {
	b.Helper()
	b.ReportAllocs()
	p := pool.New(benchWorkers, trivial, pool.Queue(benchQueue))
	feed(p)
	p.Close()
}

func BenchmarkSubmit(b *testing.B) {
	benchmarkPool(b, func(p *pool.Pool[int]) {
		for n := range b.N {
			p.Submit(n)
		}
	})
}

func BenchmarkSubmitN(b *testing.B) {
	benchmarkPool(b, func(p *pool.Pool[int]) {
		batch := make([]int, benchBatch)
		for left := b.N; left > 0; left -= benchBatch {
			p.SubmitN(batch[:min(left, benchBatch)])
		}
	})
}

// Refused values are passed to Submit. Otherwise the benchmark would measure refusals, because
// a producer that never waits is nearly always refused.
func BenchmarkTrySubmit(b *testing.B) {
	benchmarkPool(b, func(p *pool.Pool[int]) {
		for n := range b.N {
			if !p.TrySubmit(n) {
				p.Submit(n)
			}
		}
	})
}

func BenchmarkForEach(b *testing.B) {
	items := make([]int, b.N)
	b.ResetTimer()
	err := pool.ForEach(b.Context(), benchWorkers, items, func(_ context.Context, n int) error {
		trivial(n)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
