package bucket_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/files/bucket"
	"muster/test/kits/buckettest"
	"muster/test/kits/enginetest"
)

// A refusal may come late, and a write whose answer is lost is refused only if another one is seen.
func TestLateErrors(t *testing.T) {
	broken := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code></Error>")
		}
	}
	var written atomic.Bool
	for _, c := range []struct {
		size   int
		faulty func(r *http.Request) bool
		answer http.HandlerFunc
		want   error
	}{
		{partSize + 1, func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") }, broken(http.StatusOK, "PreconditionFailed"), fileio.ErrChanged},
		{partSize + 1, func(r *http.Request) bool { return r.URL.Query().Has("partNumber") }, broken(http.StatusNotFound, "NoSuchUpload"), fileio.ErrBusy},
		{10, func(r *http.Request) bool { return r.Method == http.MethodHead && written.Load() }, broken(http.StatusInsufficientStorage, ""), syscall.ENOSPC},
	} {
		server := buckettest.Start(t)
		s := open(t, server, bucket.Options{})
		written.Store(false)
		server.Lose = func(r *http.Request) bool {
			return r.Method == http.MethodPut && c.size < partSize && !written.Swap(true)
		}
		server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			faulty := c.faulty(r)
			if faulty {
				c.answer(w, r)
			}
			return faulty
		}
		first := func(now *fileio.Info) bool { return now == nil }
		if _, err := s.Put(t.Context(), "x", bytes.NewReader(enginetest.Content(1, c.size)), -1, first); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
}

// An answer that makes no sense is an error, and ends nothing but its request.
func TestBrokenAnswers(t *testing.T) {
	ranged := func(contentRange string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", contentRange)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte("data"))
		}
	}
	answers := map[string]http.HandlerFunc{
		"below-0": ranged("bytes 0-3/-5"), "elsewhere": ranged("bytes 7-10/100"), "unknown": ranged("bytes 0-3/*"), "no-bytes": ranged("lines 0-3/4"), "no-number": ranged("bytes -3/4"),
		"no-size": func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = w.Write([]byte("data"))
		},
		"no-tag": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Del("ETag")
			_, _ = w.Write([]byte("data"))
		},
		"weak-tag": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `W/"tag"`)
			_, _ = w.Write([]byte("data"))
		},
		"no-range": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte("data"))
		},
		"shorter": func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") {
				ranged("bytes 262144-262147/262148")(w, r)
				return
			}
			w.Header().Set("Content-Range", "bytes 0-262143/1000000")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(make([]byte, 262144))
		},
	}
	server := buckettest.Start(t)
	server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		answer := answers[strings.TrimPrefix(r.URL.Path, "/kept/")]
		if answer != nil {
			w.Header().Set("ETag", `"tag"`)
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			answer(w, r)
		}
		return answer != nil
	}
	s := open(t, server, bucket.Options{})
	var readers sync.WaitGroup
	for name := range answers {
		readers.Go(func() {
			if _, err := enginetest.Get(t.Context(), s, name); err == nil || !strings.Contains(err.Error(), fileio.ErrBusy.Error()) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	readers.Wait()
	always := func(*fileio.Info) bool { return true }
	for _, name := range []string{"no-tag", "weak-tag"} {
		if _, err := s.Put(t.Context(), name, strings.NewReader("x"), 1, always); !errors.Is(err, fileio.ErrBusy) {
			t.Errorf("a condition, %s: %v", name, err)
		}
	}
}

// A list has only what was asked for, and an end.
func TestBrokenLists(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	entry := func(key string) string {
		return "<Contents><Key>" + key + "</Key><LastModified>2006-01-02T15:04:05Z</LastModified></Contents>"
	}
	var endless atomic.Bool
	server.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		_, err := io.WriteString(w, "<ListBucketResult>"+entry("p/1")+entry("p/3")+entry("q"))
		for endless.Load() && err == nil {
			_, err = io.WriteString(w, entry("p/4"))
		}
		_, _ = io.WriteString(w, "</ListBucketResult>")
		return true
	}
	infos, more, err := s.List(t.Context(), "p/", "p/2", 10)
	if err != nil || more || len(infos) != 1 || infos[0].Name != "p/3" {
		t.Error(infos, more, err)
	}
	endless.Store(true)
	if _, _, err := s.List(t.Context(), "p/", "p/5", 10); !errors.Is(err, fileio.ErrBusy) {
		t.Error(err)
	}
}

// A store that lists without an order is found, because the pages of a list would miss files.
func TestUnsortedLists(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	for _, page := range []string{
		"<Contents><Key>b</Key></Contents><Contents><Key>a</Key></Contents>",
		"<Contents><Key>a</Key></Contents><IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>",
	} {
		server.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, "<ListBucketResult>"+page+"</ListBucketResult>")
			return true
		}
		if infos, _, err := s.List(t.Context(), "", "", 10); !errors.Is(err, errors.ErrUnsupported) {
			t.Error(infos, err)
		}
	}
}

// A machine that is no object store may answer every request with a page and 200. No write is
// acknowledged then, neither of a file nor of a part.
func TestPagesForWrites(t *testing.T) {
	server := buckettest.Start(t)
	s := open(t, server, bucket.Options{})
	var partsOnly atomic.Bool
	server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || partsOnly.Load() && !r.URL.Query().Has("partNumber") {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "<html>Welcome</html>")
		return true
	}
	for _, size := range []int{10, partSize + 1} {
		partsOnly.Store(size > partSize)
		if _, err := s.Put(t.Context(), "x", bytes.NewReader(enginetest.Content(1, size)), -1, nil); !errors.Is(err, fileio.ErrBusy) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// What is wrong with the address, the key or the clock has a name, whatever the status.
func TestRefusalsNameTheMend(t *testing.T) {
	for _, c := range []struct {
		status     int
		code, mend string
	}{
		{http.StatusNotFound, "XAdminUserNotFound", "check the credentials"},
		{http.StatusNotFound, "", "check --endpoint or AWS_ENDPOINT_URL"},
		{http.StatusForbidden, "RequestTimeTooSkewed", "the clock"},
		{http.StatusBadRequest, "AuthorizationHeaderMalformed", "AWS_REGION"},
		{http.StatusTemporaryRedirect, "", "--endpoint"},
	} {
		server := buckettest.Start(t)
		server.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(c.status)
			if c.code != "" {
				_, _ = io.WriteString(w, "<Error><Code>"+c.code+"</Code></Error>")
			}
			return true
		}
		buckettest.Setenv(t)
		s, err := bucket.Open(bucket.Options{Bucket: buckettest.Bucket, Endpoint: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), c.mend) {
			t.Errorf("%d %s: %v", c.status, c.code, err)
		}
	}
}
