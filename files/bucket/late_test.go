package bucket_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/fileio"
	"muster/files/bucket"
	"muster/test/kits/buckettest"
	"muster/test/kits/enginetest"
)

// A recorder records the requests to change or describe a file. fault is called with the number of
// each request of a method.
type recorder struct {
	mu    sync.Mutex
	sent  []string
	count map[string]int
	fault func(method string, n int) bool
}

func (r *recorder) add(q *http.Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := q.Method
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if q.Header.Get(name) != "" {
			text += " " + name
		}
	}
	r.sent = append(r.sent, text)
	r.count[q.Method]++
	return r.fault(q.Method, r.count[q.Method])
}

func record(fault func(method string, n int) bool) *recorder {
	return &recorder{count: map[string]int{}, fault: fault}
}

func (r *recorder) check(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r.sent, want) {
		t.Errorf("%q, want %q", r.sent, want)
	}
}

// A write without a condition is one request. If its answer is lost, another request finds the
// file.
func TestPutWithoutCondition(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	all := record(func(method string, n int) bool { return method == http.MethodPut && n == 2 })
	server.Lose = all.add
	enginetest.Put(t, s, "x", []byte("1"))
	enginetest.Put(t, s, "x", []byte("2"))
	all.check(t, "PUT", "PUT", "HEAD")
	enginetest.CheckContent(t, s, "x", []byte("2"))
}

// A repetition that is executed late changes nothing, because another one and somebody else's
// write were acknowledged meanwhile.
func TestLateRepetition(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	enginetest.Put(t, s, "x", []byte("before"))
	puts := record(func(method string, n int) bool { return method == http.MethodPut && n == 1 })
	server.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if puts.add(r) {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	server.Late = func(r *http.Request) bool { return r.Method == http.MethodPut && puts.count[r.Method] == 2 }
	enginetest.Put(t, s, "x", []byte("ours"))
	puts.check(t, "PUT", "HEAD", "PUT If-Match", "HEAD", "PUT If-Match")
	enginetest.Put(t, s, "x", []byte("theirs"))
	if status := server.Land(); !slices.Equal(status, []int{http.StatusPreconditionFailed}) {
		t.Error(status)
	}
	enginetest.CheckContent(t, s, "x", []byte("theirs"))
}

// A write without a condition succeeds even if somebody else writes before its repetition.
func TestRacedRepetition(t *testing.T) {
	server := buckettest.Start(t)
	s, other := open(t, server, bucket.Options{}), open(t, server, bucket.Options{})
	puts := record(func(method string, n int) bool {
		if method == http.MethodPut && n == 2 {
			server.Fault = nil
			enginetest.Put(t, other, "x", []byte("theirs"))
		}
		return method == http.MethodPut && n == 1
	})
	server.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if puts.add(r) {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	enginetest.Put(t, s, "x", []byte("ours"))
	enginetest.CheckContent(t, s, "x", []byte("ours"))
}

// A deletion whose answer is lost succeeds. One that is executed late deletes no later file.
func TestLateDelete(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	always := func(now *fileio.Info) bool { return now != nil }
	for _, want := range []fileio.Condition{nil, always} {
		enginetest.Put(t, s, "x", []byte("1"))
		deletes := record(func(method string, n int) bool { return method == http.MethodDelete && n == 1 })
		server.Late = nil
		server.Lose = deletes.add
		if err := s.Delete(t.Context(), "x", want); err != nil {
			t.Error(err)
		}
		enginetest.Put(t, s, "x", []byte("2"))
		deletes = record(func(method string, n int) bool { return method == http.MethodDelete && n == 1 })
		server.Lose = nil
		server.Late = deletes.add
		if err := s.Delete(t.Context(), "x", want); err != nil {
			t.Error(err)
		}
		enginetest.Put(t, s, "x", []byte("3"))
		if status := server.Land(); !slices.Equal(status, []int{http.StatusPreconditionFailed}) {
			t.Error(status)
		}
		enginetest.CheckContent(t, s, "x", []byte("3"))
	}
	// Somebody else wrote between the lost deletion and its repetition.
	deletes := record(func(method string, n int) bool {
		if method == http.MethodDelete && n == 2 {
			server.Lose = nil
			enginetest.Put(t, s, "x", []byte("4"))
		}
		return method == http.MethodDelete && n == 1
	})
	server.Late = nil
	server.Lose = deletes.add
	if err := s.Delete(t.Context(), "x", always); !errors.Is(err, fileio.ErrBusy) || !strings.Contains(err.Error(), "did not answer whether") {
		t.Error(err)
	}
	enginetest.CheckContent(t, s, "x", []byte("4"))
}
