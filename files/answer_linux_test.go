package files_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/internal/fair"
	"muster/internal/nowait"
	"muster/test/kits/enginetest"
)

// readingRecorder counts the bytes that it takes from files itself.
type readingRecorder struct {
	*httptest.ResponseRecorder
	taken int64
}

func (r *readingRecorder) ReadFrom(from io.Reader) (int64, error) {
	n, err := io.Copy(r.Body, from)
	r.taken += n
	return n, err
}

// The connection takes a cached file itself over HTTP/1.1, and the answer's head precedes it.
func TestConnectionTakesFiles(t *testing.T) {
	folder := t.TempDir()
	s := enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{Sync: fileio.SyncNone})
	server := files.NewServer(s, files.Options{})
	for _, size := range []int{5000, 50_000, 1_000_000} {
		data := enginetest.Content(size, size)
		enginetest.Put(t, s, "x", data)
		for _, major := range []int{1, 2} {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/files/x", nil)
			r.ProtoMajor = major
			w := &readingRecorder{ResponseRecorder: httptest.NewRecorder()}
			server.ServeHTTP(w, r)
			want := int64(0)
			if major == 1 && size > 8<<10 && reportsMemory(t, folder) {
				want = int64(size)
			}
			if w.Code != http.StatusOK || w.taken != want || w.Body.String() != string(data) {
				t.Errorf("HTTP/%d: %d, and %d bytes of %d were taken", major, w.Code, w.taken, size)
			}
			if flushed := w.Flushed && major == 1; flushed != (want > 0) {
				t.Errorf("HTTP/%d: the head was flushed: %v", major, flushed)
			}
		}
	}
}

// A file that is in the system's memory is refused if copying it needs memory and none is free.
func TestBusyWithCachedFiles(t *testing.T) {
	s := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, MemoryMax: 1 << 20, WaitMax: time.Millisecond})
	server := files.NewServer(s, files.Options{})
	enginetest.Put(t, s, "small", enginetest.Content(1, 5000))
	enginetest.Put(t, s, "large", enginetest.Content(2, 50_000))
	client := fair.WithClient(t.Context(), fair.Client{Address: "192.0.2.1"}) // of requests of httptest
	for {
		f, err := s.Get(client, "small")
		if errors.Is(err, fileio.ErrBusy) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	for _, part := range []string{"", "bytes=0-9"} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, "GET", "/files/large", nil)
		r.Header.Set("Range", part)
		r.ProtoMajor = 2
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || w.Body.Len() > 1000 {
			t.Errorf("%q: %d with %d bytes", part, w.Code, w.Body.Len())
		}
	}
}

// reportsMemory reports whether the system tells which files of the folder it has in memory.
func reportsMemory(t *testing.T, folder string) bool {
	t.Helper()
	name := filepath.Join(folder, "probe")
	if err := os.WriteFile(name, []byte(strings.Repeat("x", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return nowait.Local(int(dir.Fd())) && nowait.InMemory(int(file.Fd()), 0, 5000)
}
