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
	"muster/fileio/enginetest"
	"muster/fileio/faulty"
	"muster/internal/fair"
)

// narrow is an engine with room for one job of each kind.
type narrow struct{ *faulty.Engine }

func (narrow) Room() fileio.Room { return fileio.Room{Transfers: 1, Light: 1} }

// pair is an engine with room for two jobs about names.
type pair struct{ *faulty.Engine }

func (pair) Room() fileio.Room { return fileio.Room{Light: 2} }

// as returns a context of the client at an address.
func as(t *testing.T, address string) context.Context {
	return fair.WithClient(t.Context(), fair.Client{Address: address})
}

// A client with many waiting operations does not hold up the operation of another one. One too
// many is refused. Names do not wait behind data. A transfer that has begun is not refused.
func TestTurnsAtTheEngine(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Bool
		e := narrow{faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
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
				_, err := s.Put(as(t, address), address, bytes.NewReader([]byte("x")), 1, nil)
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
		for range 6 { // one is executed, four wait, and one is too many
			put("greedy")
		}
		if got := <-took; got != "greedy is refused after 0s" {
			t.Error(got)
		}
		put("modest")
		if s := s.Stats(); s.Waiting != 5 || s.Refused != 1 {
			t.Errorf("%+v", s)
		}
		if _, err := s.Stat(as(t, "greedy"), "none"); err == nil || time.Since(began) != 0 {
			t.Errorf("a name: %v after %v", err, time.Since(began))
		}
		for i, want := range []string{"greedy after 1s", "greedy after 2s", "modest after 3s", "greedy after 4s", "greedy after 5s", "greedy after 6s"} {
			if got := <-took; got != want {
				t.Errorf("%d: %s, not %s", i, got, want)
			}
		}

		// A large file is read in pieces, each in its turn, and that takes longer than WaitMax.
		f, err := s.Get(as(t, "reader"), "large")
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan error, 1)
		go func() { read <- f.CopyTo(as(t, "reader"), io.Discard, 0, f.Size) }()
		ctx, stop := context.WithCancel(t.Context())
		for i := range 4 { // together they have every second turn
			go func() {
				for ctx.Err() == nil {
					_, _ = s.Put(as(t, "greedy"), fmt.Sprint(i), bytes.NewReader(nil), 0, nil)
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

// A client that has much of its files in memory, and sends no more, leaves as much for others.
func TestSharesOfMemory(t *testing.T) {
	s := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, MemoryMax: 2 << 20})
	const many = 20
	r := stops{make(chan struct{}, many), make(chan struct{})}
	ended := make(chan error, many)
	for range many {
		go func() {
			_, err := s.Put(as(t, "greedy"), "greedy", io.MultiReader(bytes.NewReader(make([]byte, 200_000)), r), -1, nil)
			ended <- err
		}()
	}
	<-r.asked // of others perhaps nothing is read, for they wait
	if held := s.Stats().Memory; held > 1<<19 {
		t.Errorf("one client holds %d bytes of %d", held, 1<<20)
	}
	data := enginetest.Content(1, 600_000)
	if _, err := s.Put(as(t, "modest"), "x", bytes.NewReader(data), -1, nil); err != nil {
		t.Error(err)
	}
	enginetest.Has(t, s, "x", data)
	close(r.end)
	for range many {
		if err := <-ended; err == nil {
			t.Error("a part is a file")
		}
	}
	if held := s.Stats().Memory; held != 0 {
		t.Errorf("%d bytes are held", held)
	}
}

// stops is a reader that gives nothing, and fails once end is closed.
type stops struct{ asked, end chan struct{} }

func (s stops) Read([]byte) (int, error) {
	s.asked <- struct{}{}
	<-s.end
	return 0, io.ErrUnexpectedEOF
}

// A Delete that waits for its client's turn keeps nobody from the name.
func TestDeleteWaitsWithoutLock(t *testing.T) {
	occupied, end := make(chan struct{}), make(chan struct{})
	e := narrow{faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
		if j.Op == fileio.OpStat {
			occupied <- struct{}{}
			<-end
		}
	}})}
	s := enginetest.Open(t, e, t.TempDir(), fileio.Options{Sync: fileio.SyncGroup, JobsOnly: true})
	var all sync.WaitGroup
	all.Go(func() { _, _ = s.Stat(as(t, "greedy"), "x") })
	<-occupied // and with it the place for jobs about names
	all.Go(func() {
		if err := s.Delete(as(t, "greedy"), "x", nil); err != nil {
			t.Error(err)
		}
	})
	for s.Stats().Waiting == 0 {
		runtime.Gosched()
	}
	if _, err := s.Put(as(t, "modest"), "x", strings.NewReader("some"), 4, nil); err != nil {
		t.Error(err)
	}
	close(end)
	all.Wait()
}

// Of many Deletes of one name, one at most holds a place at the engine while it waits for the
// name's lock.
func TestOneNameTakesOnePlace(t *testing.T) {
	occupied, end := make(chan struct{}), make(chan struct{})
	e := pair{faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
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
			_ = s.Delete(as(t, "greedy"), "x", nil) // one of them finds it
		})
	}
	for n := 0; n < 1000 || began.Load() < 8; n++ {
		runtime.Gosched()
	}
	if _, err := s.Stat(as(t, "modest"), "y"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	close(end)
	all.Wait()
}
