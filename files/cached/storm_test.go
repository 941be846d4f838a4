package cached_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files/cached"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
)

var storms = flag.Int("storms", 2, "how often many readers of a few files are cut, while the files change and the disks fail")

// Readers who leave at any byte, changes of the files, an origin and a disk that fail, and
// evictions: a read that ends well has the right bytes, and nothing is left open.
func TestStorm(t *testing.T) {
	for i := range *storms {
		t.Run(fmt.Sprint(i), func(t *testing.T) { storm(t, uint64(i)) })
	}
}

var errCut = errors.New("cut")

func storm(t *testing.T, seed uint64) {
	of := newOrigin(t)
	engine := faulty.New(&direct.Engine{}, faulty.Options{})
	copies, err := fileio.Open(t.TempDir(), engine, fileio.Options{Sync: fileio.SyncNone, Capacity: 5 << 20, Evict: []string{cached.Folder}, JobsOnly: seed%2 == 0})
	if err != nil {
		t.Fatal(err)
	}
	s := cached.New(sharedStore{of}, copies, cached.Options{Max: 5 << 20})
	if seed%3 == 0 {
		engine.Break(seed, 20, 0)
	}
	var requests atomic.Uint64
	var calm atomic.Bool
	of.before = func(context.Context, int64) error {
		if seed%5 == 0 && requests.Add(1)%7 == 0 && !calm.Load() {
			return errCut
		}
		return nil
	}
	sizes := []int{0, 100, 5_000, 300_000, pieceSize, pieceSize + 1, 1_200_000, 2_000_000}
	var bases [][]byte
	for i, size := range sizes {
		bases = append(bases, enginetest.Content(i, size+2))
	}
	content := func(file int, version uint64) []byte {
		return append(binary.BigEndian.AppendUint64(nil, version), bases[file][:sizes[file]+int(version%3)]...)
	}
	type file struct {
		name         string
		sync.RWMutex // that of a digest is removed only without readers, so that it is known whether it exists
		written      atomic.Uint64
	}
	files := make([]file, 2*len(sizes))
	put := func(f *file, i int, version uint64) {
		data := content(i%len(sizes), version)
		if _, err := s.Put(context.Background(), f.name, bytes.NewReader(data), int64(len(data)), nil); err != nil {
			t.Error(err)
		}
		f.written.Store(version)
	}
	for i := range files {
		files[i].name = fmt.Sprint("n/", i)
		if i >= len(sizes) {
			files[i].name = named(content(i%len(sizes), 0))
		}
		put(&files[i], i, 0)
	}
	var readers, writers sync.WaitGroup
	done := make(chan struct{})
	writers.Go(func() {
		random := rand.New(rand.NewPCG(seed, 99))
		for version := uint64(1); ; version++ {
			select {
			case <-done:
				return
			default:
			}
			i := random.IntN(len(files))
			f := &files[i]
			if i < len(sizes) {
				put(f, i, version)
				continue
			}
			f.Lock()
			err := s.Delete(context.Background(), f.name, nil)
			for errors.Is(err, syscall.EIO) { // of the copy
				err = s.Delete(context.Background(), f.name, nil)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			if _, err := enginetest.Get(context.Background(), s, f.name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errCut) {
				t.Errorf("a deleted file is there: %v", err)
			}
			put(f, i, 0)
			f.Unlock()
		}
	})
	for who := range 30 {
		readers.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(who)))
			for range 20 {
				i := random.IntN(len(files))
				f := &files[i]
				f.RLock()
				least := f.written.Load()
				ctx, cancel := context.WithCancel(context.Background())
				data, err := readCut(ctx, cancel, s, f.name, random.IntN(3_000_000))
				cancel()
				f.RUnlock()
				var version uint64
				if len(data) >= 8 {
					version = binary.BigEndian.Uint64(data)
				}
				want := content(i%len(sizes), version)
				switch {
				case err == nil && (version < least || !bytes.Equal(data, want)):
					t.Errorf("%s has %d bytes of version %d, after %d", f.name, len(data), version, least)
				case err != nil && !bytes.HasPrefix(want, data):
					t.Errorf("%s: the %d bytes before %v are wrong", f.name, len(data), err)
				case errors.Is(err, fs.ErrNotExist):
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
	close(done)
	writers.Wait()
	engine.Break(1, 0, 0)
	calm.Store(true) // a request whose readers have left may still go on
	for i := range files {
		enginetest.CheckContent(t, s, files[i].name, content(i%len(sizes), files[i].written.Load()))
	}
	if err := s.Close(); err != nil || of.opened.Load() != 0 || copies.Stats().Memory != 0 {
		t.Errorf("%v, %d files are open, %d bytes are in memory", err, of.opened.Load(), copies.Stats().Memory)
	}
}

// readCut reads a file, and leaves after some bytes: its context ends, or its connection fails.
func readCut(ctx context.Context, cancel func(), s *cached.Store, name string, most int) ([]byte, error) {
	if most%11 == 0 {
		go cancel()
	}
	f, err := s.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data []byte
	w := writer(func(p []byte) (int, error) {
		n := min(len(p), most-len(data))
		data = append(data, p[:n]...)
		switch {
		case n == len(p):
			return n, nil
		case most%2 == 0:
			cancel()
		}
		return n, errCut
	})
	err = f.CopyTo(ctx, w, 0, f.Size)
	return data, err
}
