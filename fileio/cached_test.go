package fileio_test

import (
	"bytes"
	"errors"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
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
			before := e.Stats().Done
			enginetest.CheckContent(t, s, "x", data)
			f, err := s.Get(t.Context(), "x")
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer // reads by itself
			if err := errors.Join(f.CopyTo(t.Context(), &got, f.Size/3, f.Size-f.Size/3), f.Close()); err != nil || !bytes.Equal(got.Bytes(), data[size/3:]) {
				t.Errorf("%d bytes: %d of them, %v", size, got.Len(), err)
			}
			jobs := e.Stats().Done - before
			cached, err := s.GetCached(t.Context(), "x")
			if err != nil || e.Stats().Done != before+jobs || reportsCached(t, folder) && (cached == nil) != jobsOnly {
				t.Errorf("%d bytes, with jobs alone: %v: %v, %v", size, jobsOnly, cached, err)
			}
			if cached != nil {
				got.Reset()
				if err := errors.Join(cached.CopyTo(t.Context(), &got, 0, cached.Size), cached.Close()); err != nil || !bytes.Equal(got.Bytes(), data) {
					t.Errorf("%d bytes: %d of them, %v", size, got.Len(), err)
				}
			}
			if reportsCached(t, folder) && (jobs == 0) == jobsOnly {
				t.Errorf("%d bytes take %d jobs, with jobs alone: %v", size, jobs, jobsOnly)
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
