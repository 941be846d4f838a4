package files_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
	"muster/files"
	"muster/internal/nowait"
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
