package fileio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/internal/fair"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
)

// narrowEngine has room for one job of each kind.
type narrowEngine struct{ *faulty.Engine }

func (narrowEngine) Room() fileio.Room { return fileio.Room{Transfers: 1, Light: 1} }

// pairEngine has room for two jobs on names.
type pairEngine struct{ *faulty.Engine }

func (pairEngine) Room() fileio.Room { return fileio.Room{Light: 2} }

// contextOf returns a context of the client at an address.
func contextOf(t *testing.T, address string) context.Context {
	return fair.WithClient(t.Context(), fair.Client{Address: address})
}

// A client with many waiting operations does not delay another client's operation. An
// operation beyond WaitingMax is refused. Jobs on names do not wait behind data. A transfer
// that has begun is not refused.
func TestTurnsAtTheEngine(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Bool
		e := narrowEngine{faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
			if slow.Load() && !j.Op.Light() {
				time.Sleep(time.Second)
			}
		}})}
		s := enginetest.Open(t, e, folder, fileio.Options{Sync: fileio.SyncNone, JobsOnly: true, WaitingMax: 8, WaitMax: 20 * time.Second})
		enginetest.Put(t, s, "large", make([]byte, 3<<20))
		slow.Store(true)
		began := time.Now()
		took := make(chan string, 100)
		put := func(address string) {
			go func() {
				_, err := s.Put(contextOf(t, address), address, bytes.NewReader([]byte("x")), 1, nil)
				switch {
				case errors.Is(err, fileio.ErrBusy):
					took <- address + " is refused after " + time.Since(began).String()
				case err != nil:
					took <- err.Error()
				default:
					took <- address + " after " + time.Since(began).String()
				}
			}()
			synctest.Wait()
		}
		for range 6 { // one runs, four wait, and one exceeds WaitingMax
			put("greedy")
		}
		if got := <-took; got != "greedy is refused after 0s" {
			t.Error(got)
		}
		put("modest")
		if s := s.Stats(); s.Waiting != 5 || s.Refused != 1 {
			t.Errorf("%+v", s)
		}
		if _, err := s.Stat(contextOf(t, "greedy"), "none"); err == nil || time.Since(began) != 0 {
			t.Errorf("a name: %v after %v", err, time.Since(began))
		}
		for i, want := range []string{"greedy after 1s", "greedy after 2s", "modest after 3s", "greedy after 4s", "greedy after 5s", "greedy after 6s"} {
			if got := <-took; got != want {
				t.Errorf("%d: %s, not %s", i, got, want)
			}
		}

		// The pieces of a large file wait for their turns, in total longer than WaitMax.
		f, err := s.Get(contextOf(t, "reader"), "large")
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan error, 1)
		go func() { read <- f.CopyTo(contextOf(t, "reader"), io.Discard, 0, f.Size) }()
		ctx, stop := context.WithCancel(t.Context())
		for i := range 4 { // together the clients have every second turn
			go func() {
				for ctx.Err() == nil {
					_, _ = s.Put(contextOf(t, "greedy"), fmt.Sprint(i), bytes.NewReader(nil), 0, nil)
				}
			}()
		}
		if err := errors.Join(<-read, f.Close()); err != nil {
			t.Errorf("a large file: %v", err)
		}
		if took := time.Since(began); took < 20*time.Second || took > time.Minute {
			t.Errorf("it took %v", took)
		}
		stop()
		slow.Store(false)
		time.Sleep(time.Minute)
		if s := s.Stats(); s.Waiting != 0 || s.Memory != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A client that holds much memory and sends no more leaves as much to others.
func TestSharesOfMemory(t *testing.T) {
	s := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, MemoryMax: 2 << 20})
	const many = 20
	r := stalledReader{make(chan struct{}, many), make(chan struct{})}
	ended := make(chan error, many)
	for range many {
		go func() {
			_, err := s.Put(contextOf(t, "greedy"), "greedy", io.MultiReader(bytes.NewReader(make([]byte, 200_000)), r), -1, nil)
			ended <- err
		}()
	}
	<-r.asked // other clients may still wait for memory
	if held := s.Stats().Memory; held > 1<<19 {
		t.Errorf("one client holds %d bytes of %d", held, 1<<20)
	}
	data := enginetest.Content(1, 600_000)
	if _, err := s.Put(contextOf(t, "modest"), "x", bytes.NewReader(data), -1, nil); err != nil {
		t.Error(err)
	}
	enginetest.CheckContent(t, s, "x", data)
	close(r.end)
	for range many {
		if err := <-ended; err == nil {
			t.Error("an incomplete file exists")
		}
	}
	if held := s.Stats().Memory; held != 0 {
		t.Errorf("%d bytes are held", held)
	}
}

// stalledReader returns no bytes, and fails once end is closed.
type stalledReader struct{ asked, end chan struct{} }

func (s stalledReader) Read([]byte) (int, error) {
	s.asked <- struct{}{}
	<-s.end
	return 0, io.ErrUnexpectedEOF
}

// A Delete that waits for its client's turn does not lock the name.
func TestDeleteWaitsWithoutLock(t *testing.T) {
	occupied, end := make(chan struct{}), make(chan struct{})
	e := narrowEngine{faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
		if j.Op == fileio.OpStat {
			occupied <- struct{}{}
			<-end
		}
	}})}
	s := enginetest.Open(t, e, t.TempDir(), fileio.Options{Sync: fileio.SyncGroup, JobsOnly: true})
	var all sync.WaitGroup
	all.Go(func() { _, _ = s.Stat(contextOf(t, "greedy"), "x") })
	<-occupied // so the place for jobs on names is taken
	all.Go(func() {
		if err := s.Delete(contextOf(t, "greedy"), "x", nil); err != nil {
			t.Error(err)
		}
	})
	for s.Stats().Waiting == 0 {
		runtime.Gosched()
	}
	if _, err := s.Put(contextOf(t, "modest"), "x", strings.NewReader("some"), 4, nil); err != nil {
		t.Error(err)
	}
	close(end)
	all.Wait()
}

// Of many Deletes of one name, at most one holds a place at the engine while it waits for the
// name's lock.
func TestOneNameTakesOnePlace(t *testing.T) {
	occupied, end := make(chan struct{}), make(chan struct{})
	e := pairEngine{faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
		if j.Op == fileio.OpCommit {
			close(occupied)
			<-end
		}
	}})}
	s := enginetest.Open(t, e, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, JobsOnly: true})
	var all sync.WaitGroup
	all.Go(func() { // has the lock
		if _, err := s.Put(t.Context(), "x", strings.NewReader("some"), 4, func(*fileio.Info) bool { return true }); err != nil {
			t.Error(err)
		}
	})
	<-occupied
	var began atomic.Int32
	for range 8 {
		all.Go(func() {
			began.Add(1)
			_ = s.Delete(contextOf(t, "greedy"), "x", nil) // only one of them finds the file
		})
	}
	for n := 0; n < 1000 || began.Load() < 8; n++ {
		runtime.Gosched()
	}
	if _, err := s.Stat(contextOf(t, "modest"), "y"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	close(end)
	all.Wait()
}
