package cached_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files/bucket"
	"muster/files/cached"
	"muster/test/kits/buckettest"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
)

// logged returns a log, and what was written to it.
func logged() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// copiesIn returns the files of all copies in a folder.
func copiesIn(t *testing.T, folder string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(folder, "??", "copies%2f*"))
	if err != nil || len(all) == 0 {
		t.Fatal("no copies", err)
	}
	return all
}

// A power failure may leave a copy with its size and other bytes. The next process finds
// the damage before a reader gets it.
func TestRestart(t *testing.T) {
	contents := map[string][]byte{"a": enginetest.Content(1, 1000), "empty": nil}
	for i, size := range []int{1, 5000, 300_000, pieceSize, 2*pieceSize + 7} {
		contents[named(enginetest.Content(i, size))] = enginetest.Content(i, size)
	}
	damages := map[string]func([]byte){
		"none":          func([]byte) {},
		"zeros":         func(b []byte) { clear(b) },
		"first byte":    func(b []byte) { b[0]++ },
		"before label":  func(b []byte) { b[max(0, len(b)-1025)]++ },
		"label":         func(b []byte) { b[len(b)-1]++ },
		"label's text":  func(b []byte) { b[len(b)-980]++ },
		"last block":    func(b []byte) { clear(b[max(0, len(b)-4096):]) },
		"other content": func(b []byte) { copy(b, enginetest.Content(77, len(b)-1024)) },
	}
	of, folder := newOrigin(t), t.TempDir()
	for name, data := range contents {
		enginetest.Put(t, of.Origin, name, data)
	}
	start := func(want int64) {
		t.Helper()
		of.gets.Store(0)
		copies, err := fileio.Open(folder, &direct.Engine{}, fileio.Options{Sync: fileio.SyncNone, Capacity: 50 << 20, Evict: []string{cached.Folder}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := copies.Close(); err != nil {
				t.Error(err)
			}
		}()
		s := cached.New(of, sharedCopies{copies}, cached.Options{Max: 50 << 20})
		for range 2 {
			for name, data := range contents {
				enginetest.CheckContent(t, s, name, data)
			}
		}
		if got := of.gets.Load(); got > int64(len(contents)) || want >= 0 && got != want {
			t.Errorf("%d requests, not %d", got, want)
		}
		if n := of.opened.Load(); n > 0 {
			t.Errorf("%d files are open", n)
		}
	}
	start(int64(len(contents)))
	start(0)
	for what, damage := range damages {
		for _, path := range copiesIn(t, folder) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damage(data)
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(what, func(t *testing.T) {
			want := int64(len(contents))
			if what == "none" {
				want = 0
			} else if what == "first byte" || what == "other content" {
				want = -1 // of an empty file it is in the label
			}
			start(want)
			start(0)
		})
	}
}

// Whatever happens to the copies, reads succeed, and one warning is logged.
func TestBrokenCopies(t *testing.T) {
	for what, c := range map[string]struct {
		engine func() *faulty.Engine
		harm   func(t *testing.T, folder string, e *faulty.Engine)
		word   string // of the warning
	}{
		"full disk":   {harm: func(_ *testing.T, _ string, e *faulty.Engine) { e.Break(1, 0, 100_000) }, word: syscall.ENOSPC.Error()},
		"broken disk": {harm: func(_ *testing.T, _ string, e *faulty.Engine) { e.Break(1, 1, 0) }, word: syscall.EIO.Error()},
		"removed": {harm: func(t *testing.T, folder string, _ *faulty.Engine) {
			if err := os.RemoveAll(folder); err != nil {
				t.Error(err)
			}
		}, word: "--cache"},
		"truncated": {harm: func(t *testing.T, folder string, _ *faulty.Engine) {
			for _, path := range copiesIn(t, folder) {
				if err := os.Truncate(path, 100); err != nil {
					t.Error(err)
				}
			}
		}},
	} {
		t.Run(what, func(t *testing.T) {
			of, folder := newOrigin(t), filepath.Join(t.TempDir(), "copies")
			engine := faulty.New(&direct.Engine{}, faulty.Options{})
			copies, err := fileio.Open(folder, engine, fileio.Options{Sync: fileio.SyncNone, Capacity: 50 << 20, Evict: []string{cached.Folder}, JobsOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = copies.Close() })
			log, text := logged()
			s := cached.New(of, sharedCopies{copies}, cached.Options{Max: 50 << 20, Log: log})
			var names []string
			content := func(i int) []byte { return enginetest.Content(i, []int{0, 100, 50_000, 700_000, 2_000_000}[i%5]) }
			for i := range 20 {
				name := named(content(i))
				if i > 9 {
					name = fmt.Sprint("n/", i)
				}
				names = append(names, name)
				enginetest.Put(t, of.Origin, name, content(i))
			}
			check := func() {
				for i, name := range names {
					enginetest.CheckContent(t, s, name, content(i))
				}
			}
			check()
			c.harm(t, folder, engine)
			for i := range 10 {
				names = append(names, fmt.Sprint("m/", i))
				enginetest.Put(t, of.Origin, names[len(names)-1], content(len(names)-1))
			}
			check()
			check()
			engine.Break(1, 0, 0)
			check()
			if n := strings.Count(text.String(), "level=WARN"); n > 1 || (n == 1) != (c.word != "") || !strings.Contains(text.String(), c.word) {
				t.Errorf("%d warnings: %s", n, text)
			}
			if n := of.opened.Load(); n > 0 {
				t.Errorf("%d files are open", n)
			}
		})
	}
}

// If a copy cannot be removed, the deletion fails and can be repeated.
func TestCopyStays(t *testing.T) {
	of, engine := newOrigin(t), faulty.New(&direct.Engine{}, faulty.Options{})
	s := cached.New(of, openCopies(t, engine, t.TempDir(), 20<<20), cached.Options{Max: 20 << 20})
	name := named([]byte("content"))
	enginetest.Put(t, s, name, []byte("content"))
	enginetest.CheckContent(t, s, name, []byte("content"))
	engine.Break(1, 1, 0)
	for range 2 {
		if err := s.Delete(t.Context(), name, nil); !errors.Is(err, syscall.EIO) {
			t.Error(err)
		}
	}
	engine.Break(1, 0, 0)
	if err := s.Delete(t.Context(), name, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := enginetest.Get(t.Context(), s, name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a deleted file: %v", err)
	}
}

// If an answer of the origin breaks off, only its own read fails, and no wrong copy stays.
func TestBrokenOrigin(t *testing.T) {
	s, of := open(t, 50<<20)
	data := enginetest.Content(1, 5*pieceSize)
	broken := errors.New("broken")
	for _, name := range []string{"a", named(data)} {
		enginetest.Put(t, of.Origin, name, data)
		for failing := range int64(5) {
			of.before = func(_ context.Context, offset int64) error {
				if offset/pieceSize == failing {
					return broken
				}
				return nil
			}
			if _, err := enginetest.Get(t.Context(), s, name); !errors.Is(err, broken) {
				t.Errorf("piece %d: %v", failing, err)
			}
		}
		of.before = nil
		enginetest.CheckContent(t, s, name, data)
	}
	if n := of.opened.Load(); n > 0 {
		t.Errorf("%d files are open", n)
	}
}

// gateways are servers of one bucket with caches of their own, and one without.
func gateways(t *testing.T) []enginetest.Store {
	server := buckettest.Start(t)
	buckettest.Setenv(t)
	var all []enginetest.Store
	for i := range 3 {
		b, err := bucket.Open(bucket.Options{Bucket: buckettest.Bucket, Endpoint: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		if i == 2 {
			all = append(all, b)
			break
		}
		all = append(all, cached.New(b, openCopies(t, &direct.Engine{}, t.TempDir(), 3<<20), cached.Options{Max: 3 << 20}))
	}
	return all
}

// A read that begins after a write has ended sees it, through whichever gateway.
func TestGatewaysAgree(t *testing.T) {
	all := gateways(t)
	random := rand.New(rand.NewPCG(1, 2))
	type file struct {
		data []byte
		tag  string
	}
	model := map[string]file{}
	contents := map[string][]byte{} // of the names that are digests
	var names []string
	for i := range 4 {
		data := enginetest.Content(i, []int{0, 1000, 300_000, 800_000}[i])
		contents[named(data)] = data
		names = append(names, named(data), fmt.Sprint("n/", i))
	}
	for i := range 1500 {
		name := names[random.IntN(len(names))]
		s := all[random.IntN(len(all))]
		now, exists := model[name]
		data, addressed := contents[name]
		switch k := random.IntN(10); {
		case k == 0 && !addressed: // the same gateway for all changes of a digest: others may be late
			err := s.Delete(t.Context(), name, nil)
			if exists != (err == nil) || err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%d: delete %s: %v", i, name, err)
			}
			delete(model, name)
		case k < 4:
			if !addressed {
				data = enginetest.Content(random.IntN(5), random.IntN(3)*300_000)
			}
			want := fileio.Condition(nil)
			if random.IntN(2) == 0 {
				want = func(is *fileio.Info) bool { return (is != nil) == exists && (is == nil || is.Tag == now.tag) }
			}
			info, err := s.Put(t.Context(), name, bytes.NewReader(data), int64(len(data)), want)
			if err != nil {
				t.Fatalf("%d: put %s: %v", i, name, err)
			}
			model[name] = file{data, info.Tag}
		default:
			f, err := s.Get(t.Context(), name)
			if exists != (err == nil) || err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%d: get %s, which exists: %t: %v", i, name, exists, err)
			}
			if err != nil {
				continue
			}
			var b bytes.Buffer
			if err := errors.Join(f.CopyTo(t.Context(), &b, 0, f.Size), f.Close()); err != nil || !bytes.Equal(b.Bytes(), now.data) || f.Tag != now.tag {
				t.Fatalf("%d: %s has %d bytes and tag %s, not %d and %s; %v", i, name, b.Len(), f.Tag, len(now.data), now.tag, err)
			}
		}
	}
}

// The same with writes and reads at the same time: a read sees the last write that had ended when
// it began, or a later one.
func TestReadsAreNotStale(t *testing.T) {
	all := gateways(t)
	const versions = 200
	var acknowledged atomic.Int64
	content := func(v int64) []byte {
		return append(fmt.Appendf(nil, "%08d", v), enginetest.Content(int(v), int(v%3)*300_000)...)
	}
	put := func(v int64) {
		data := content(v)
		if _, err := all[v%3].Put(t.Context(), "a", bytes.NewReader(data), int64(len(data)), nil); err != nil {
			t.Error(err)
		}
		acknowledged.Store(v)
	}
	put(0)
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			for acknowledged.Load() < versions {
				least := acknowledged.Load()
				data, err := enginetest.Get(t.Context(), all[i%2], "a")
				if errors.Is(err, fileio.ErrBusy) || err != nil && strings.Contains(err.Error(), "was replaced while it was read") {
					continue
				}
				var v int64
				if _, e := fmt.Sscanf(string(data[:min(8, len(data))]), "%d", &v); err != nil || e != nil || v < least || !bytes.Equal(data, content(v)) {
					t.Errorf("%d bytes of version %d, after %d was written: %v", len(data), v, least, err)
				}
			}
		})
	}
	for v := range int64(versions) {
		put(v + 1)
	}
	readers.Wait()
}
