package files_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
)

// leaver is a client that disconnects while the server reads more for it.
type leaver struct {
	http.ResponseWriter
	reading <-chan struct{}
}

func (l leaver) Write([]byte) (int, error) {
	<-l.reading
	return 0, errors.New("gone")
}

// A separate goroutine reads several ranges. When the client has gone, the server waits for it:
// the file must not be closed, nor its memory reused, while it is read.
func TestSeveralRangesBrokenOff(t *testing.T) {
	reading, closing := make(chan struct{}), make(chan struct{})
	read, closed := sync.OnceFunc(func() { close(reading) }), sync.OnceFunc(func() { close(closing) })
	disk := faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
		switch j.Op {
		case fileio.OpClose:
			closed()
		case fileio.OpRead:
			read()
			select { // long enough to detect a server that does not wait
			case <-closing:
				t.Error("the file is closed while it is read")
			case <-time.After(50 * time.Millisecond):
			}
		}
	}})
	store := enginetest.Open(t, disk, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, JobsOnly: true})
	enginetest.Put(t, store, "x", enginetest.Content(1, 2_000_000))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/files/x", nil)
	r.Header.Set("Range", "bytes=300000-900000,1000001-1900000")
	files.NewServer(store, files.Options{}).ServeHTTP(leaver{httptest.NewRecorder(), reading}, r)
}
