package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/fileio"
	"muster/files/bucket"
	"muster/internal/fair"
	"muster/test/kits/buckettest"
	"muster/test/kits/enginetest"
)

// countReads counts the requests that read.
func countReads(server *buckettest.Server) *atomic.Int64 {
	reads := new(atomic.Int64)
	server.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			reads.Add(1)
		}
		return false
	}
	return reads
}

func get(t *testing.T, s *bucket.Store, name string) *fileio.File {
	t.Helper()
	f, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A large file is read with few requests, also in small pieces, and when memory is short.
func TestFewRequests(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{MemoryMax: bucket.MemoryMin})
	bucket.SetLinger(s, time.Hour) // this machine may be slow, too
	data := enginetest.Content(1, 20<<20)
	enginetest.Put(t, s, "x", data)
	reads := countReads(server)
	check := func(what string, most int64) {
		t.Helper()
		reads.Store(0)
		f := get(t, s, "x")
		defer f.Close()
		var got bytes.Buffer
		var err error
		if what == "whole" {
			err = f.CopyTo(t.Context(), &got, 0, f.Size)
		} else {
			_, err = io.CopyBuffer(struct{ io.Writer }{&got}, f.NewReader(t.Context()), make([]byte, 32<<10))
		}
		if err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Errorf("%s: %d bytes, %v", what, got.Len(), err)
		}
		if n := reads.Load(); n > most {
			t.Errorf("%s: %d requests, want at most %d", what, n, most)
		}
	}
	check("whole", 4)
	check("in pieces", 11)
	for i := range 63 { // clients who leave 256 KiB of memory
		f, err := s.Get(fair.WithClient(t.Context(), fair.Client{Address: fmt.Sprint(i)}), "x")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	check("whole", 4)
	// A short range costs one request for no more than that.
	f := get(t, s, "x")
	defer f.Close()
	reads.Store(0)
	var got bytes.Buffer
	if err := f.CopyTo(t.Context(), &got, 10<<20, 3000); err != nil || !bytes.Equal(got.Bytes(), data[10<<20:10<<20+3000]) || reads.Load() != 1 {
		t.Errorf("a range: %d bytes, %v, %d requests", got.Len(), err, reads.Load())
	}
}

// Readers who wait for a connection hold little memory, so each of many gets its file with one
// request.
func TestManyReaders(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	data := enginetest.Content(1, 50<<10)
	enginetest.Put(t, s, "x", data)
	const many = 400 // whose pieces of 256 KiB would take three times a client's share
	var reads atomic.Int64
	all := make(chan struct{}) // closed when all readers have asked
	server.Fault = func(http.ResponseWriter, *http.Request) bool {
		if reads.Add(1) == 1 {
			for !t.Failed() && s.Stats().Running+s.Stats().Waiting < many {
				runtime.Gosched()
			}
			close(all)
		}
		<-all
		return false
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // readers who wait for memory never ask
	defer cancel()
	var readers sync.WaitGroup
	for range many {
		readers.Go(func() {
			f, err := s.Get(ctx, "x")
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			var got bytes.Buffer
			if err := f.CopyTo(t.Context(), &got, 0, f.Size); err != nil || !bytes.Equal(got.Bytes(), data) {
				t.Error(got.Len(), err)
			}
		})
	}
	readers.Wait()
	if n := reads.Load(); n != many {
		t.Errorf("%d requests for %d reads", n, many)
	}
}

// An answer that is cut is resumed behind its last piece, in the same version of the file.
func TestCutStreams(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	data := enginetest.Content(1, 5<<20)
	info := enginetest.Put(t, s, "x", data)
	server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		var first, last int
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); err != nil || first == 0 {
			return false
		}
		if r.Header.Get("If-Match") != `"`+info.Tag+`"` {
			t.Errorf("from %d on in any version", first)
		}
		w.Header().Set("ETag", `"`+info.Tag+`"`)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(data)))
		w.Header().Set("Content-Length", fmt.Sprint(last+1-first))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(data[first:min(first+700_000, last+1)])
		return true
	}
	enginetest.CheckContent(t, s, "x", data)
}

// An error in the middle of a file is no ErrBusy: a server would send its text behind the bytes.
func TestReplacedWhileRead(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	enginetest.Put(t, s, "x", enginetest.Content(1, 1<<20))
	f := get(t, s, "x")
	defer f.Close()
	enginetest.Put(t, s, "x", enginetest.Content(2, 1<<20))
	var got bytes.Buffer
	if err := f.CopyTo(t.Context(), &got, 0, f.Size); err == nil || errors.Is(err, fileio.ErrBusy) || got.Len() == 0 {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	if err := f.CopyTo(t.Context(), &got, f.Size-1, 1); !errors.Is(err, fileio.ErrBusy) {
		t.Errorf("a piece that has not begun: %v", err)
	}
}

// Clients that read nothing hold no connection to the object store.
func TestStuckReaders(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	data := enginetest.Content(1, 1<<20)
	enginetest.Put(t, s, "x", data)
	enginetest.Put(t, s, "y", nil)
	var readers sync.WaitGroup
	stuck := make(chan struct{})
	const many = 70 // and 64 connections
	for range many {
		readers.Go(func() {
			f := get(t, s, "x")
			defer f.Close()
			w := &stuckWriter{until: stuck}
			if err := f.CopyTo(t.Context(), w, 0, f.Size); err != nil || !bytes.Equal(w.Bytes(), data) {
				t.Error(w.Len(), err)
			}
		})
	}
	for s.Stats().Running > 0 || s.Stats().Memory < many*256<<10 {
		enginetest.CheckContent(t, s, "y", nil)
	}
	close(stuck)
	readers.Wait()
}

// A stuckWriter takes only the first piece until a channel is closed.
type stuckWriter struct {
	bytes.Buffer
	until <-chan struct{}
}

func (w *stuckWriter) Write(p []byte) (int, error) {
	if w.Len() > 0 {
		<-w.until
	}
	return w.Buffer.Write(p)
}
