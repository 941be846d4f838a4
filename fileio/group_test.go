package fileio_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
)

// failingFlush is an engine whose first flush blocks until the test lets it fail.
type failingFlush struct {
	direct.Engine
	flushes        atomic.Int64
	flushing, fail chan struct{}
	staged         chan struct{} // receives for each written file
}

func (e *failingFlush) Do(j *fileio.Job) error {
	if j.Op == fileio.OpSync && e.flushes.Add(1) == 1 {
		close(e.flushing)
		<-e.fail
		return unix.EIO
	}
	err := e.Engine.Do(j)
	if j.Op == fileio.OpStage {
		e.staged <- struct{}{}
	}
	return err
}

// A failed flush may concern any file that was written before its end, and the system reports
// it only once. The next flush must not count as flushing a file written meanwhile.
func TestFlushFailsForAllThatWereWritten(t *testing.T) {
	e := &failingFlush{flushing: make(chan struct{}), fail: make(chan struct{}), staged: make(chan struct{}, 3)}
	s := enginetest.Open(t, e, t.TempDir(), fileio.Options{Sync: fileio.SyncGroup})
	put := func(name string) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := s.Put(context.Background(), name, strings.NewReader(name), -1, nil)
			done <- err
		}()
		return done
	}
	first := put("first")
	<-e.staged
	<-e.flushing
	second := put("second")
	<-e.staged
	close(e.fail)
	for name, done := range map[string]<-chan error{"first": first, "second": second} {
		if err := <-done; !errors.Is(err, unix.EIO) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Stat(t.Context(), name); err == nil {
			t.Errorf("%s exists", name)
		}
	}
	if err := <-put("third"); err != nil {
		t.Error(err)
	}
}
