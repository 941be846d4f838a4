package remotecache

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
)

// A file is read in pieces of any size, whether or not the system has it in memory.
func TestFileReader(t *testing.T) {
	for _, jobsOnly := range []bool{false, true} {
		s := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, JobsOnly: jobsOnly})
		want := enginetest.Content(1, 10_000)
		enginetest.Put(t, s, "x", want)
		f, err := s.Get(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, r := range []io.Reader{f.NewReader(t.Context()), iotest.OneByteReader(f.NewReader(t.Context()))} {
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
		if got, err := readAll(t.Context(), f); err != nil || !bytes.Equal(got, want) || cap(got) > 3*len(want)/2 {
			t.Errorf("%d bytes in %d, %v", len(got), cap(got), err)
		}
	}
}
