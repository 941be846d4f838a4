package fileio_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"muster/fileio"
	"muster/fileio/cthreads"
	"muster/fileio/direct"
	"muster/fileio/pooled"
	"muster/fileio/uring"
	"muster/test/kits/enginetest"
)

// engines returns all engines that work here, by name. Other tests cover the errors of missing
// engines.
func engines(t testing.TB, threads, light int) map[string]fileio.Engine {
	t.Helper()
	pool, err := pooled.New(pooled.Options{Threads: threads, Light: light})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]fileio.Engine{"direct": &direct.Engine{}, "pooled": pool}
	c, err := cthreads.New(cthreads.Options{Threads: threads, Light: light})
	if err == nil {
		all["cthreads"] = c
	} else if !errors.Is(err, cthreads.ErrNotBuiltIn) {
		t.Fatal(err)
	}
	u, err := uring.New(uring.Options{Threads: threads, Light: light})
	if err == nil {
		all["uring"] = u
	} else if !errors.Is(err, uring.ErrUnavailable) {
		t.Fatal(err)
	}
	return all
}

// The same operations give the same answers and the same files on every engine, with every
// durability, with and without JobsOnly.
func TestEnginesAgree(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 2
	}
	durabilities := slices.Sorted(maps.Keys(enginetest.Durabilities()))
	for seed := range seeds {
		answers, left := map[string]string{}, map[string]string{}
		for name, e := range engines(t, 3, seed%2) {
			o := fileio.Options{Sync: enginetest.Durabilities()[durabilities[seed%3]], JobsOnly: seed/3%2 == 0}
			folder := t.TempDir()
			answers[name] = operate(t, e, folder, o, uint64(seed))
			left[name] = contents(t, folder)
		}
		for name := range answers {
			if answers[name] != answers["direct"] {
				t.Errorf("seed %d: %s answers\n%s\nand direct\n%s", seed, name, answers[name], answers["direct"])
			}
			if left[name] != left["direct"] {
				t.Errorf("seed %d: %s leaves\n%s\nand direct\n%s", seed, name, left[name], left["direct"])
			}
		}
	}
}

// operate runs several clients at the same time, each with its own names and seed, and returns
// their answers.
func operate(t *testing.T, e fileio.Engine, folder string, o fileio.Options, seed uint64) string {
	t.Helper()
	s, err := fileio.Open(folder, e, o)
	if err != nil {
		t.Fatal(errors.Join(err, e.Close()))
	}
	answers := make([]bytes.Buffer, 4)
	var all sync.WaitGroup
	for who := range answers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(who)))
			for step := range 40 {
				fmt.Fprintf(&answers[who], "%d/%d: %s\n", who, step, operation(t, s, random, who))
			}
		})
	}
	all.Wait()
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	var text bytes.Buffer
	for i := range answers {
		text.Write(answers[i].Bytes())
	}
	return text.String()
}

// operation executes a random operation and returns the answer without times.
func operation(t *testing.T, s *fileio.Store, random *rand.Rand, who int) string {
	name := fmt.Sprintf("%d/%d", who, random.IntN(6))
	what, seed, size := random.IntN(8), random.IntN(1000), []int{0, 10, 50_000, 65_537, 262_144, 262_145, 700_000}[random.IntN(7)]
	if who == 3 && what == 0 { // a name that no file can have
		name += string(bytes.Repeat([]byte("x"), 236))
	}
	switch what {
	case 0, 1, 2:
		said := []int64{int64(size), -1, int64(size) + 1}[random.IntN(3)]
		info, err := s.Put(t.Context(), name, bytes.NewReader(enginetest.Content(seed, size)), said, nil)
		return fmt.Sprint("put ", name, " ", info.Size, " ", reason(err))
	case 3:
		_, err := s.Put(t.Context(), name, bytes.NewReader(enginetest.Content(seed, size)), -1, func(now *fileio.Info) bool { return now == nil })
		return fmt.Sprint("put new ", name, " ", reason(err))
	case 4:
		return fmt.Sprint("delete ", name, " ", reason(s.Delete(t.Context(), name, nil)))
	case 5:
		info, err := s.Stat(t.Context(), name)
		return fmt.Sprint("stat ", name, " ", info.Size, " ", reason(err))
	case 6:
		infos, more, err := s.List(t.Context(), fmt.Sprint(who, "/"), "", 3)
		text := fmt.Sprint("list ", more, " ", reason(err))
		for _, info := range infos {
			text += fmt.Sprintf(" %s %d", info.Name, info.Size)
		}
		return text
	}
	f, err := s.Get(t.Context(), name)
	if err != nil {
		return fmt.Sprint("get ", name, " ", reason(err))
	}
	defer f.Close()
	sum := sha256.New()
	from := random.Int64N(f.Size + 1)
	err = f.CopyTo(t.Context(), sum, from, f.Size-from)
	return fmt.Sprintf("get %s from %d on: %x %s", name, from, sum.Sum(nil), reason(err))
}

// reason returns an error's text without the parts that differ between runs.
func reason(err error) string {
	for _, known := range []error{fs.ErrNotExist, fileio.ErrChanged, fileio.ErrSize, fileio.ErrName, io.ErrUnexpectedEOF} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprint(err)
}

// contents lists all files below a folder with their contents.
func contents(t *testing.T, folder string) string {
	t.Helper()
	var text bytes.Buffer
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		data, err := os.ReadFile(path)
		relative, _ := filepath.Rel(folder, path)
		fmt.Fprintf(&text, "%s %d %x\n", relative, len(data), sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}
