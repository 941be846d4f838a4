package fileio_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
)

// overtakenEngine is an engine that calls then right after a file has got its name.
type overtakenEngine struct {
	direct.Engine
	then func()
}

func (e *overtakenEngine) Do(j *fileio.Job) error {
	if j.Op != fileio.OpPut && j.Op != fileio.OpCommit {
		return e.Engine.Do(j)
	}
	return j.RunOn(overtakenCalls{fileio.System{}, e.then})
}

type overtakenCalls struct {
	fileio.System
	then func()
}

func (c overtakenCalls) Rename(folder int, from, to string) error {
	defer c.then()
	return c.System.Rename(folder, from, to)
}

// Put returns the Info of its own file, even if another file has the name by then. A client
// that took the other's tag for its own would later overwrite the other's file unknowingly.
func TestPutReturnsItsOwnInfo(t *testing.T) {
	for _, size := range []int{5, 500_000} {
		var s *fileio.Store
		var second fileio.Info
		var begun atomic.Bool
		then := func() {
			var err error
			if begun.Swap(true) {
				return
			}
			if second, err = s.Put(t.Context(), "x", strings.NewReader("the second"), -1, nil); err != nil {
				t.Error(err)
			}
		}
		s = enginetest.Open(t, &overtakenEngine{then: then}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
		first := enginetest.Put(t, s, "x", enginetest.Content(1, size))
		if first.Size != int64(size) || first.Tag == second.Tag || second.Size != int64(len("the second")) {
			t.Errorf("put of %d bytes: %+v, and then %+v", size, first, second)
		}
		if now, err := s.Stat(t.Context(), "x"); err != nil || now != second {
			t.Errorf("%+v, %v", now, err)
		}
	}
}
