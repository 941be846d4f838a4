package fileio_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
)

// silent is a reader from which nothing comes before its end.
type silent struct{ asked, end chan struct{} }

func (s silent) Read([]byte) (int, error) {
	s.asked <- struct{}{}
	<-s.end
	return 0, io.ErrUnexpectedEOF
}

// However many announce files and send nothing, others have memory for theirs.
func TestSilenceTakesNoMemory(t *testing.T) {
	s := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, MemoryMax: 1 << 20})
	const many = 20 // times 256 KiB is more than there is
	r := silent{make(chan struct{}), make(chan struct{})}
	ended := make(chan error, many)
	for range many {
		go func() {
			_, err := s.Put(context.Background(), "silent", r, -1, nil)
			ended <- err
		}()
	}
	for range many {
		<-r.asked
	}
	data := enginetest.Content(1, 600_000)
	if _, err := s.Put(t.Context(), "x", bytes.NewReader(data), -1, nil); err != nil {
		t.Error(err)
	}
	enginetest.Has(t, s, "x", data)
	close(r.end)
	for range many {
		if err := <-ended; err == nil {
			t.Error("silence is a file")
		}
	}
}
