package bucket_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/fileio"
	"muster/files/bucket"
	"muster/test/kits/buckettest"
	"muster/test/kits/enginetest"
)

// partSize is the size from which a file is written in parts.
const partSize = 8 << 20

// open opens a store at a server.
func open(t *testing.T, server *buckettest.Server, o bucket.Options) *bucket.Store {
	t.Helper()
	buckettest.Setenv(t)
	o.Bucket, o.Endpoint = buckettest.Bucket, server.URL
	return openAt(t, o)
}

func openAt(t *testing.T, o bucket.Options) *bucket.Store {
	t.Helper()
	s, err := bucket.Open(o)
	if err == nil {
		err = s.Probe(t.Context())
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// openAny opens an empty store that anyEmpty returns.
func openAny(t *testing.T) *bucket.Store {
	t.Helper()
	return openAt(t, anyEmpty(t))
}

// anyEmpty returns the options of an empty store at the object store of MUSTER_TEST_S3, such as
// http://127.0.0.1:7070/BUCKET with credentials in AWS's variables, or else at a server of
// buckettest.
func anyEmpty(t *testing.T) bucket.Options {
	t.Helper()
	if at := os.Getenv("MUSTER_TEST_S3"); at != "" {
		cut := strings.LastIndex(at, "/")
		return bucket.Options{Endpoint: at[:cut], Bucket: at[cut+1:], Prefix: strings.ToLower(rand.Text())}
	}
	server := buckettest.Start(t)
	t.Cleanup(func() {
		if n := server.Uploads(); n > 0 {
			t.Errorf("the parts of %d uploads remain", n)
		}
	})
	buckettest.Setenv(t)
	return bucket.Options{Endpoint: server.URL, Bucket: buckettest.Bucket, Prefix: "team/x"}
}

func TestStore(t *testing.T) {
	enginetest.RunStore(t, func(t *testing.T) enginetest.Store { return openAny(t) })
}

func TestSizesInParts(t *testing.T) {
	enginetest.CheckSizes(t, openAny(t), partSize-1, partSize, partSize+1, 2*partSize, 2*partSize+3)
}

// An upload reads a part while it sends the one before. With memory for one, it waits.
func TestPartsOverlap(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	read := make(chan struct{})
	server.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("partNumber") == "1" {
			<-read
		}
		return false
	}
	data := enginetest.Content(1, 2*partSize+3)
	r := io.MultiReader(bytes.NewReader(data[:partSize]), &signalling{Reader: bytes.NewReader(data[partSize:]), begun: read})
	if _, err := s.Put(t.Context(), "x", r, int64(len(data)), nil); err != nil {
		t.Fatal(err)
	}
	enginetest.CheckContent(t, s, "x", data)
	small := open(t, server, bucket.Options{MemoryMax: bucket.MemoryMin})
	enginetest.CheckSizes(t, small, 2*partSize, 2*partSize+3)
}

// A signalling reader closes a channel when it is read.
type signalling struct {
	io.Reader
	begun chan struct{}
	once  sync.Once
}

func (s *signalling) Read(p []byte) (int, error) {
	s.once.Do(func() { close(s.begun) })
	return s.Reader.Read(p)
}

// Of two servers who want to write the same version, one wins: with one request, and with a file in
// parts.
func TestOneWins(t *testing.T) {
	all := map[int]int{100_000: 5, partSize + 1: 5}
	if !testing.Short() {
		all[64<<20+1] = 2
	}
	for size, rounds := range all {
		if os.Getenv("MUSTER_LONG") != "" {
			rounds = 1000
		}
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			o := anyEmpty(t)
			enginetest.OneWins(t, []enginetest.Store{openAt(t, o), openAt(t, o)}, rounds, size)
		})
	}
}

// A large upload that is cut leaves the previous file, and no parts.
func TestCutUpload(t *testing.T) {
	s := openAny(t)
	enginetest.Put(t, s, "x", []byte("before"))
	cut := errors.New("cut")
	r := io.MultiReader(bytes.NewReader(enginetest.Content(1, 2*partSize)), failing{cut})
	if _, err := s.Put(t.Context(), "x", r, 3*partSize, nil); !errors.Is(err, cut) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r = io.MultiReader(bytes.NewReader(enginetest.Content(1, 2*partSize)), ending{cancel})
	if _, err := s.Put(ctx, "x", r, 3*partSize, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Put(t.Context(), "x", bytes.NewReader(enginetest.Content(1, 2*partSize)), 2*partSize-1, nil); !errors.Is(err, fileio.ErrSize) {
		t.Error(err)
	}
	enginetest.CheckContent(t, s, "x", []byte("before"))
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type ending struct{ end func() }

func (e ending) Read(p []byte) (int, error) {
	e.end()
	return len(p), nil
}

// An object store that ignores a condition of writes is refused. One that ignores that of deletes refuses them.
func TestConditionsIgnored(t *testing.T) {
	for name, set := range map[string]func(*buckettest.Server){
		"of a file":          func(s *buckettest.Server) { s.IgnorePut = true },
		"of a file in parts": func(s *buckettest.Server) { s.IgnoreParts = true },
	} {
		server := buckettest.Start(t)
		set(server)
		err := open(t, server, bucket.Options{}).Probe(t.Context())
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), ": use another one") {
			t.Errorf("%s: %v", name, err)
		}
		if keys := server.Keys(); len(keys) > 0 {
			t.Errorf("the bucket has %q", keys)
		}
	}
	server := buckettest.Start(t)
	server.IgnoreDelete = true
	s := open(t, server, bucket.Options{})
	if err := s.Delete(t.Context(), "x", func(*fileio.Info) bool { return true }); s.Probe(t.Context()) != nil || !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// A write whose answer is lost is repeated. The repetition is refused, because the first write
// succeeded, but the caller gets its success.
func TestLostAnswer(t *testing.T) {
	for _, size := range []int{10, partSize + 1} {
		server := buckettest.Start(t)
		s := open(t, server, bucket.Options{})
		var lost atomic.Int32
		server.Lose = func(r *http.Request) bool {
			last := r.Method == http.MethodPut && !r.URL.Query().Has("uploadId") || r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
			return last && lost.Add(1) == 1
		}
		first := func(now *fileio.Info) bool { return now == nil }
		data := enginetest.Content(1, size)
		info, err := s.Put(t.Context(), "x", bytes.NewReader(data), -1, first)
		if err != nil || lost.Load() < 2 {
			t.Fatalf("%d bytes: %v after %d requests", size, err, lost.Load())
		}
		if now, err := s.Stat(t.Context(), "x"); err != nil || now.Tag != info.Tag {
			t.Error(now, info, err)
		}
		if _, err := s.Put(t.Context(), "x", bytes.NewReader(data), -1, first); !errors.Is(err, fileio.ErrChanged) {
			t.Error(err)
		}
	}
}

// Short storms of 503, 429 and cut answers are survived. During a long storm the error is ErrBusy.
func TestStorm(t *testing.T) {
	statuses := []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway}
	server := buckettest.Start(t)
	var count atomic.Int64
	var always atomic.Bool
	server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		n := count.Add(1)
		switch {
		case always.Load() || n%3 == 0:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(statuses[n/3%4])
		case n%7 == 0:
			panic(http.ErrAbortHandler)
		case n%5 == 0 && r.Method == http.MethodGet && r.Header.Get("Range") != "":
			w.Header().Set("Content-Length", "1000000")
			w.Header().Set("Content-Range", "bytes 0-999999/1000000")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(make([]byte, 100))
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	}
	s := open(t, server, bucket.Options{})
	for i, size := range []int{10, 700_000, partSize + 5} {
		name := []string{"a", "b", "c"}[i]
		enginetest.Put(t, s, name, enginetest.Content(i, size))
		enginetest.CheckContent(t, s, name, enginetest.Content(i, size))
	}
	always.Store(true)
	_, putErr := s.Put(t.Context(), "a", strings.NewReader("x"), 1, nil)
	_, getErr := s.Get(t.Context(), "a")
	if !errors.Is(putErr, fileio.ErrBusy) || !errors.Is(getErr, fileio.ErrBusy) {
		t.Error(putErr, getErr)
	}
}

// At an object store that does not answer, a bounded number of requests wait. Others are
// refused, and all others are answered once it answers.
func TestSilence(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{WaitMax: 100 * time.Millisecond})
	enginetest.Put(t, s, "a", []byte("content"))
	silent := make(chan struct{})
	server.Fault = func(http.ResponseWriter, *http.Request) bool { <-silent; return false }
	const many, connections = 200, 64
	var readers sync.WaitGroup
	refused := make(chan struct{}, many)
	for range many {
		readers.Go(func() {
			switch got, err := enginetest.Get(t.Context(), s, "a"); {
			case errors.Is(err, fileio.ErrBusy):
				refused <- struct{}{}
			case err != nil || string(got) != "content":
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	for range many - connections {
		<-refused
	}
	if stats := s.Stats(); stats.Running != connections || stats.Waiting != 0 {
		t.Errorf("%+v", stats)
	}
	close(silent)
	readers.Wait()
}

func TestOpenErrors(t *testing.T) {
	server := buckettest.Start(t)
	buckettest.Setenv(t)
	for _, c := range []struct {
		o    bucket.Options
		want string
	}{
		{bucket.Options{Bucket: "other"}, "has no bucket other"},
		{bucket.Options{Endpoint: "localhost:1"}, "not the address of an object store"},
		{bucket.Options{Endpoint: "https://key:secret@s3.example.com"}, `"s3.example.com" is not the address`},
		{bucket.Options{Endpoint: "http://localhost:65536"}, `"http://localhost:65536" is not the address`},
		{bucket.Options{Endpoint: "http://localhost:0"}, "not the address of an object store"},
		{bucket.Options{Endpoint: "http://:9000"}, "not the address of an object store"},
		{bucket.Options{Endpoint: "http://localhost#9000"}, "not the address of an object store"},
		{bucket.Options{Endpoint: "http://-"}, "not the address of an object store"},
		{bucket.Options{MemoryMax: 1}, "too small"},
	} {
		c.o.Endpoint = cmp.Or(c.o.Endpoint, server.URL)
		s, err := bucket.Open(c.o)
		if err == nil {
			err = s.Probe(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	if _, err := bucket.Open(bucket.Options{Bucket: "kept", Endpoint: server.URL}); err == nil || !strings.Contains(err.Error(), "no credentials") {
		t.Error(err)
	}
}

// The bucket's name before a domain asks in virtual-host style. A machine may have the name, too.
func TestVirtualHosts(t *testing.T) {
	buckettest.Setenv(t)
	for endpoint, want := range map[string]string{
		"https://kept.s3.example.com": "s3.example.com", "https://s3.example.com": "s3.example.com", "http://kept.local:9000": "kept.local:9000", "http://kept:9000": "kept:9000",
	} {
		s, err := bucket.Open(bucket.Options{Bucket: "kept", Endpoint: endpoint})
		if err != nil || s.Address() != want {
			t.Errorf("%s: %v, %v", endpoint, s.Address(), err)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for address, want := range map[string]string{
		"s3://b": "b ", "s3://b/": "b ", "s3://b/p/q/": "b p/q", "/srv/files": "no", "s3://": "error", "s3:///p": "error", "s3://b/../p": "error", "s3://b?x": "error",
	} {
		name, prefix, ok, err := bucket.ParseAddress(address)
		got := name + " " + prefix
		switch {
		case err != nil:
			got = "error"
		case !ok:
			got = "no"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
