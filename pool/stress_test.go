package pool_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"muster/pool"
)

// A script uses a pool in a random way. Its seed reproduces it, except for the order in which
// goroutines run.
type script struct {
	seed      uint64
	workers   int
	queueMax  int
	producers int
	each      int // tasks per producer
}

func newScript(seed uint64, tasks int) script {
	r := rand.New(rand.NewPCG(seed, 0))
	s := script{seed: seed, workers: 1 + r.IntN(64), queueMax: 1 + r.IntN(20), producers: 1 + r.IntN(8)}
	if r.IntN(3) == 0 {
		s.queueMax = 1
	}
	s.each = tasks / s.producers
	return s
}

// play has each producer submit its own numbers, by all methods in turn, and checks that each
// number was handled exactly once.
func (s script) play(t *testing.T) {
	t.Helper()
	counts := make([]atomic.Int32, s.producers*s.each)
	p := pool.New(s.workers, func(n int) { counts[n].Add(1) }, pool.Queue(s.queueMax))
	var producers sync.WaitGroup
	for i := range s.producers {
		producers.Go(func() { s.produce(t, p, i, counts) })
	}
	producers.Wait()
	p.Close()
	for n := range counts {
		if c := counts[n].Load(); c != 1 {
			t.Fatalf("%+v: task %d ran %d times", s, n, c)
		}
	}
	if done := p.Stats().Done; done != uint64(len(counts)) {
		t.Errorf("%+v: Done = %d, want %d", s, done, len(counts))
	}
}

func (s script) produce(t *testing.T, p *pool.Pool[int], producer int, counts []atomic.Int32) {
	r := rand.New(rand.NewPCG(s.seed, uint64(producer)+1))
	first := producer * s.each
	numbers := make([]int, s.each)
	for i := range numbers {
		numbers[i] = first + i
	}
	for rest := numbers; len(rest) > 0; {
		n := s.submitSome(t, p, r, rest)
		rest = rest[n:]
		if r.IntN(200) == 0 {
			p.Wait()
			s.checkAllDone(t, counts[first:first+s.each-len(rest)])
		}
	}
}

// submitSome submits one value or several and returns how many.
func (s script) submitSome(t *testing.T, p *pool.Pool[int], r *rand.Rand, rest []int) int {
	switch r.IntN(4) {
	case 0:
		p.Submit(rest[0])
	case 1:
		n := min(len(rest), r.IntN(2*s.queueMax+2))
		p.SubmitN(rest[:n])
		return n
	case 2:
		if err := p.SubmitContext(t.Context(), rest[0]); err != nil {
			t.Error(err)
		}
	case 3:
		if !p.TrySubmit(rest[0]) {
			p.Submit(rest[0])
		}
	}
	return 1
}

func (s script) checkAllDone(t *testing.T, counts []atomic.Int32) {
	for i := range counts {
		if counts[i].Load() != 1 {
			t.Errorf("%+v: Wait returned before a task that its caller had submitted was done", s)
			return
		}
	}
}

func TestEveryTaskRunsOnce(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) { newScript(seed, 1000).play(t) })
	}
}

func TestEveryTaskOfManyRunsOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("many tasks; not with -short")
	}
	tasks := 1_000_000
	if raceDetector {
		tasks = 30_000
	}
	for seed := range uint64(3) {
		newScript(1000+seed, tasks).play(t)
	}
}
