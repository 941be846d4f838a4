package fileio_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
)

// Check leaves no file behind, reports what is wrong with the disk, and does not wait for a
// hanging disk.
func TestCheck(t *testing.T) {
	folder := t.TempDir()
	s := enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{})
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}

	hangs, goOn := make(chan struct{}, 10), make(chan struct{})
	stalled := faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
		if j.Op == fileio.OpStage {
			hangs <- struct{}{}
			<-goOn
		}
	}})
	s = enginetest.Open(t, stalled, t.TempDir(), fileio.Options{})
	for range 2 { // the second one waits for the first
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-hangs
			cancel()
		}()
		if err := s.Check(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		hangs <- struct{}{}
	}
	close(goOn)
}
