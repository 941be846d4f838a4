package fileio_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
)

// silentReader is a reader that returns no byte before its end.
type silentReader struct{ asked, end chan struct{} }

func (s silentReader) Read([]byte) (int, error) {
	s.asked <- struct{}{}
	<-s.end
	return 0, io.ErrUnexpectedEOF
}

// Clients that announce files and send nothing leave all memory to others.
func TestSilenceTakesNoMemory(t *testing.T) {
	s := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, MemoryMax: 1 << 20})
	const many = 20 // 20 × 256 KiB exceeds the memory
	r := silentReader{make(chan struct{}), make(chan struct{})}
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
	enginetest.CheckContent(t, s, "x", data)
	close(r.end)
	for range many {
		if err := <-ended; err == nil {
			t.Error("an announced file exists without its content")
		}
	}
}
