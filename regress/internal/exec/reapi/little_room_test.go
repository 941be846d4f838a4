package reapi_test

import (
	"fmt"
	"sync"
	"testing"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/test/kits/reapitest"
)

// littleRoom is an engine that has room for one source: it drops the one that it has for
// any other that comes.
type littleRoom struct {
	*worker
	sources []reapitest.Digest

	mu   sync.Mutex
	held reapitest.Digest
}

func (l *littleRoom) fault(c reapitest.Call) error {
	if c.Method != "BatchUpdateBlobs" || c.Moment != reapitest.End {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.sources {
		if _, ok := l.Get(d); ok && d != l.held {
			l.Evict(l.held)
			l.held = d
		}
	}
	return nil
}

// Where cases push each other's sources out of the engine's store, they run alone.
func TestLittleRoom(t *testing.T) {
	l := &littleRoom{worker: newWorker(t, reapitest.Options{})}
	s := l.mustStart(func(o *reapi.Options) { o.Jobs = 12 })
	var jobs []exec.Job
	for i := range 24 {
		j := s.cases[i%len(s.cases)]
		j.Content = fmt.Appendf(nil, "source %d", i)
		jobs, l.sources = append(jobs, j), append(l.sources, reapitest.DigestOf(j.Content))
	}
	l.storm(l.fault)
	var all sync.WaitGroup
	for _, j := range jobs {
		all.Go(func() { s.wants(j, false) })
	}
	all.Wait()
}
