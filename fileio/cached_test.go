package fileio_test

import (
	"bytes"
	"errors"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
)

// Cached files are read without a job, unless JobsOnly is set. Where the reader can take a file
// from the system's memory, it gets the same bytes.
func TestWithoutAJob(t *testing.T) {
	folder := t.TempDir()
	for _, jobsOnly := range []bool{false, true} {
		e := &direct.Engine{}
		s, err := fileio.Open(folder, e, fileio.Options{JobsOnly: jobsOnly})
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 5_000, 50_000, 256 << 10, 1_000_000} {
			data := enginetest.Content(size, size)
			enginetest.Put(t, s, "x", data)
			// The system may drop the file from memory at any time, but hardly ten times.
			cached, jobs := readCached(t, s, data)
			for tries := 1; !jobsOnly && (!cached || jobs > 0) && tries < 10; tries++ {
				cached, jobs = readCached(t, s, data)
			}
			if reportsCached(t, folder) && (cached == jobsOnly || (jobs == 0) == jobsOnly) {
				t.Errorf("%d bytes take %d jobs, with jobs alone: %v, cached: %v", size, jobs, jobsOnly, cached)
			}
			if held := s.Stats().Memory; held != 0 {
				t.Errorf("%d bytes are held", held)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// readCached reads file x in several ways. It returns whether GetCached has it, and how many jobs the
// others take.
func readCached(t *testing.T, s *fileio.Store, data []byte) (cached bool, jobs int64) {
	t.Helper()
	check := func(f *fileio.File, offset int64) {
		t.Helper()
		var got bytes.Buffer // reads by itself
		if err := errors.Join(f.CopyTo(t.Context(), &got, offset, f.Size-offset), f.Close()); err != nil || !bytes.Equal(got.Bytes(), data[offset:]) {
			t.Errorf("%d bytes: %d of them, %v", len(data), got.Len(), err)
		}
	}
	before := s.Stats().Done
	enginetest.CheckContent(t, s, "x", data)
	f, err := s.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	check(f, f.Size/3)
	after := s.Stats().Done
	f, err = s.GetCached(t.Context(), "x")
	if now := s.Stats().Done; err != nil || now != after {
		t.Errorf("%d bytes: %d jobs, %v", len(data), now-after, err)
	}
	if f != nil {
		check(f, 0)
	}
	return f != nil, after - before
}
