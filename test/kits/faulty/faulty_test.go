package faulty_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
)

// Whatever fails, each file has the content of a successful put, or of a put whose flush
// failed. No file is torn, and no temporary file remains.
func TestNothingIsTorn(t *testing.T) {
	for durability, sync := range enginetest.Durabilities() {
		t.Run(durability, func(t *testing.T) {
			e := faulty.New(&direct.Engine{}, faulty.Options{Seed: 1})
			s := enginetest.Open(t, e, t.TempDir(), fileio.Options{Sync: sync})
			round := 0
			rapid.Check(t, func(r *rapid.T) {
				round++
				onBrokenDisk(t, r, s, e, round)
			})
		})
	}
}

// onBrokenDisk executes operations on its own files in the store.
func onBrokenDisk(t *testing.T, r *rapid.T, s *fileio.Store, e *faulty.Engine, round int) {
	e.Break(rapid.Uint64().Draw(r, "seed"), rapid.IntRange(2, 20).Draw(r, "fail one in"), rapid.Int64Range(0, 2_000_000).Draw(r, "room for"))
	possible := map[string][][]byte{} // contents that a file may have; nil = the file may be missing
	for i := range rapid.IntRange(1, 30).Draw(r, "steps") {
		name := fmt.Sprintf("%d/%d", round, rapid.IntRange(0, 3).Draw(r, "name"))
		if possible[name] == nil {
			possible[name] = [][]byte{nil}
		}
		switch rapid.IntRange(0, 2).Draw(r, "what") {
		case 0:
			data := enginetest.Content(i, rapid.SampledFrom([]int{0, 10, 70_000, 300_000, 600_000}).Draw(r, "size"))
			_, err := s.Put(t.Context(), name, bytes.NewReader(data), int64(len(data)), nil)
			if err == nil {
				possible[name] = [][]byte{data}
			} else {
				broken(r, err)
				possible[name] = append(possible[name], data)
			}
		case 1:
			err := s.Delete(t.Context(), name, nil)
			if err == nil {
				possible[name] = [][]byte{nil}
			} else if !errors.Is(err, fs.ErrNotExist) {
				broken(r, err)
				possible[name] = append(possible[name], nil)
			}
		default:
			has(t, r, s, name, possible[name])
		}
	}
	e.Break(0, 0, 0)
	for name := range possible {
		has(t, r, s, name, possible[name])
	}
}

// broken checks that an error comes from the disk.
func broken(r *rapid.T, err error) {
	if !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC) {
		r.Fatal(err)
	}
}

// has checks that a file has one of the possible contents or cannot be read.
func has(t *testing.T, r *rapid.T, s *fileio.Store, name string, possible [][]byte) {
	got, err := enginetest.Get(t.Context(), s, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		broken(r, err)
		return
	}
	for _, p := range possible {
		if (p == nil) == (err != nil) && bytes.Equal(p, got) {
			return
		}
	}
	r.Fatalf("%s has %d bytes, %v, which nobody wrote", name, len(got), err)
}

// A full disk refuses further files with an error and keeps the existing ones.
func TestFullDisk(t *testing.T) {
	for durability, sync := range enginetest.Durabilities() {
		t.Run(durability, func(t *testing.T) {
			s := enginetest.Open(t, faulty.New(&direct.Engine{}, faulty.Options{RoomFor: 100_000}), t.TempDir(), fileio.Options{Sync: sync})
			enginetest.Put(t, s, "x", enginetest.Content(1, 90_000))
			for _, size := range []int{20_000, 800_000} {
				data := enginetest.Content(2, size)
				if _, err := s.Put(t.Context(), "x", bytes.NewReader(data), int64(size), nil); !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("%d bytes on a full disk: %v", size, err)
				}
			}
			enginetest.CheckContent(t, s, "x", enginetest.Content(1, 90_000))
		})
	}
}
