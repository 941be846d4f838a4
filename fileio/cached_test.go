package fileio_test

import (
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
)

// Cached files are read without a job, unless JobsOnly is set. Jobs read large files.
func TestWithoutAJob(t *testing.T) {
	folder := t.TempDir()
	for _, jobsOnly := range []bool{false, true} {
		e := &direct.Engine{}
		s, err := fileio.Open(folder, e, fileio.Options{JobsOnly: jobsOnly})
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 50_000, 256 << 10, 1_000_000} {
			data := enginetest.Content(size, size)
			enginetest.Put(t, s, "x", data)
			before := e.Stats().Done
			enginetest.CheckContent(t, s, "x", data)
			jobs := e.Stats().Done - before
			if small := size <= 256<<10; reportsCached(t, folder) && (jobs == 0) != (small && !jobsOnly) {
				t.Errorf("%d bytes take %d jobs, with jobs alone: %v", size, jobs, jobsOnly)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
