package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/fileio"
)

// A Store is a store of any kind, with its figures.
type Store interface {
	fileio.Files
	Stats() fileio.Stats
}

// Content returns bytes that depend on a seed, so that two files differ.
func Content(seed, size int) []byte {
	data := make([]byte, size)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = random.Read(data)
	return data
}

// Put writes a file and fails the test on an error.
func Put(t *testing.T, s Store, name string, data []byte) fileio.Info {
	t.Helper()
	info, err := s.Put(t.Context(), name, bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if info.Name != name || info.Size != int64(len(data)) || info.Tag == "" || info.Changed.IsZero() {
		t.Fatalf("%d bytes put as %q: %+v", len(data), name, info)
	}
	return info
}

// Get reads a whole file.
func Get(ctx context.Context, s Store, name string) (data []byte, err error) {
	f, err := s.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = errors.Join(f.CopyTo(ctx, &b, 0, f.Size), f.Close())
	return b.Bytes(), err
}

// CheckContent checks that a file has these bytes.
func CheckContent(t *testing.T, s Store, name string, want []byte) {
	t.Helper()
	got, err := Get(t.Context(), s, name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes, %v; want %d", name, len(got), err, len(want))
	}
}

func sizes(t *testing.T, s Store) {
	CheckSizes(t, s, 0, 1, 4095, 4096, 65535, 65536, 65537, 262143, 262144, 262145, 1<<20+3)
}

// CheckSizes writes files of these sizes, and reads them and parts of them.
func CheckSizes(t *testing.T, s Store, sizes ...int) {
	t.Helper()
	for i, size := range sizes {
		data := Content(i, size)
		for _, announced := range []int64{int64(size), -1} {
			name := fmt.Sprintf("sizes/%d/%d", size, announced)
			if _, err := s.Put(t.Context(), name, shortReader{bytes.NewReader(data)}, announced, nil); err != nil {
				t.Fatal(err)
			}
			CheckContent(t, s, name, data)
			ranges(t, s, name, data)
			if info, err := s.Stat(t.Context(), name); err != nil || info.Size != int64(size) {
				t.Errorf("%+v, %v", info, err)
			}
		}
	}
}

// shortReader returns less at a time than the caller asks for.
type shortReader struct{ io.Reader }

func (r shortReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 70_001)]) }

// ranges reads parts of a file.
func ranges(t *testing.T, s Store, name string, data []byte) {
	t.Helper()
	f, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := int64(len(data))
	for _, r := range [][2]int64{{0, 0}, {0, size}, {size, 0}, {size / 2, size - size/2}, {size / 3, min(5, size-size/3)}, {max(0, size-1), min(1, size)}} {
		var b bytes.Buffer
		if err := f.CopyTo(t.Context(), &b, r[0], r[1]); err != nil || !bytes.Equal(b.Bytes(), data[r[0]:r[0]+r[1]]) {
			t.Errorf("%s: %d bytes from %d on: %d, %v", name, r[1], r[0], b.Len(), err)
		}
	}
	for _, r := range [][2]int64{{-1, 1}, {0, size + 1}, {size + 1, 0}, {0, -1}, {1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64}, {math.MinInt64, math.MaxInt64}, {0, math.MinInt64}} {
		if err := f.CopyTo(t.Context(), io.Discard, r[0], r[1]); err == nil {
			t.Errorf("%d bytes from %d on, of %d: no error", r[1], r[0], size)
		}
	}
}

func replace(t *testing.T, s Store) {
	first := Put(t, s, "a", Content(1, 300_000))
	second := Put(t, s, "a", Content(2, 10))
	if first.Tag == second.Tag {
		t.Errorf("two contents have the tag %s", first.Tag)
	}
	CheckContent(t, s, "a", Content(2, 10))
	if info, err := s.Stat(t.Context(), "a"); err != nil || info.Tag != second.Tag || info.Size != second.Size {
		t.Errorf("%+v, %v, want %+v", info, err, second)
	}
	tags := map[string]bool{}
	for i := range 20 { // of the same size, in quick succession
		tags[Put(t, s, "a", Content(i, 5)).Tag] = true
	}
	if len(tags) != 20 {
		t.Errorf("20 contents have %d tags", len(tags))
	}
}

func missing(t *testing.T, s Store) {
	_, getErr := s.Get(t.Context(), "none")
	_, statErr := s.Stat(t.Context(), "none")
	for op, err := range map[string]error{"get": getErr, "stat": statErr, "delete": s.Delete(t.Context(), "none", nil)} {
		var path *fs.PathError
		if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &path) || path.Path != "none" || path.Op != op {
			t.Errorf("%s: %v", op, err)
		}
	}
	Put(t, s, "none", nil)
	if err := s.Delete(t.Context(), "none", nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Stat(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func names(t *testing.T, s Store) {
	for _, bad := range []string{"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../../evil", "a/./b", "a\x00b", "a\nb", "\xff", "a\x7f", strings.Repeat("a", 241), strings.Repeat("Ä", 200), strings.Repeat("a/", 600)} {
		_, putErr := s.Put(t.Context(), bad, strings.NewReader("x"), 1, nil)
		_, getErr := s.Get(t.Context(), bad)
		_, statErr := s.Stat(t.Context(), bad)
		for _, err := range []error{putErr, getErr, statErr, s.Delete(t.Context(), bad, nil)} {
			if !errors.Is(err, fileio.ErrName) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	good := []string{"a", "A", "b/b", "b/b.c", ".hidden", "~", "~x-1", "+a", "%41", "a b", "ä", "a\u0308", "…", "-rf", "..a", "a..", "lock", "format", "00", "01/lock", `\`, "a:b", strings.Repeat("a", 240)}
	for i, name := range good {
		Put(t, s, name, Content(i, i))
	}
	for i, name := range good {
		CheckContent(t, s, name, Content(i, i))
	}
	infos, more, err := s.List(t.Context(), "", "", fileio.ListMax)
	if err != nil || more {
		t.Fatal(more, err)
	}
	var listed []string
	for _, info := range infos {
		listed = append(listed, info.Name)
	}
	slices.Sort(good)
	if !slices.Equal(listed, good) {
		t.Errorf("the list is %q", listed)
	}
}

func lists(t *testing.T, s Store) {
	var all []string
	for i := range 25 {
		name := fmt.Sprintf("p%d/%02d", i%3, i)
		Put(t, s, name, Content(i, i))
		all = append(all, name)
	}
	slices.Sort(all)
	for _, prefix := range []string{"", "p", "p1/", "q"} {
		want := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !strings.HasPrefix(name, prefix) })
		for _, most := range []int{1, 4, 25, fileio.ListMax} {
			var got []string
			after := ""
			for {
				infos, more, err := s.List(t.Context(), prefix, after, most)
				if err != nil || len(infos) > most {
					t.Fatalf("%d, %v", len(infos), err)
				}
				for _, info := range infos {
					got = append(got, info.Name)
					after = info.Name
				}
				if !more {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("with %q, %d at a time: %q", prefix, most, got)
			}
		}
	}
	for _, most := range []int{0, fileio.ListMax + 1} {
		if _, _, err := s.List(t.Context(), "", "", most); err == nil {
			t.Errorf("a list of %d: no error", most)
		}
	}
}

// failingReader returns some bytes and then an error.
type failingReader struct {
	io.Reader
	err error
}

// Read returns the error only once, because not every reader repeats it.
func (b *failingReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF && b.err != nil {
		err, b.err = b.err, nil
	}
	return n, err
}

// failingReaders checks that a failed Put leaves the previous file unchanged.
func failingReaders(t *testing.T, s Store) {
	broken := errors.New("broken")
	Put(t, s, "x", []byte("before"))
	for _, size := range []int{0, 10, 262143, 262144, 262145, 600_000} {
		data := Content(1, size)
		for _, c := range []struct {
			announced int64
			r         io.Reader
			want      error
		}{
			{int64(size), &failingReader{bytes.NewReader(data), broken}, broken},
			{-1, &failingReader{bytes.NewReader(data), broken}, broken},
			{int64(size) + 1, bytes.NewReader(data), fileio.ErrSize},
			{int64(size) + 300_000, bytes.NewReader(data), fileio.ErrSize},
			{int64(size) - 1, bytes.NewReader(data), fileio.ErrSize},
			{-1, &failingReader{bytes.NewReader(data), io.ErrUnexpectedEOF}, io.ErrUnexpectedEOF},
		} {
			if c.announced == -1 && c.want == fileio.ErrSize {
				continue
			}
			if _, err := s.Put(t.Context(), "x", c.r, c.announced, nil); !errors.Is(err, c.want) {
				t.Errorf("%d bytes, announced as %d: %v, want %v", size, c.announced, err, c.want)
			}
		}
	}
	CheckContent(t, s, "x", []byte("before"))
}

func endedContexts(t *testing.T, s Store) {
	Put(t, s, "x", []byte("before"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, putErr := s.Put(ctx, "x", strings.NewReader("after"), 5, nil)
	_, getErr := s.Get(ctx, "x")
	_, statErr := s.Stat(ctx, "x")
	_, _, listErr := s.List(ctx, "", "", 1)
	for _, err := range []error{putErr, getErr, statErr, listErr, s.Delete(ctx, "x", nil)} {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	// The context ends in the middle of a large file.
	ctx, cancel = context.WithCancel(t.Context())
	r := io.MultiReader(bytes.NewReader(Content(1, 600_000)), reader(func([]byte) (int, error) {
		cancel()
		return 0, ctx.Err()
	}))
	if _, err := s.Put(ctx, "x", r, 900_000, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	CheckContent(t, s, "x", []byte("before"))
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// oneName has several goroutines write one file while others read it. Each reader must see one
// version, whole. Only a store in a folder keeps a version that is being read.
func oneName(t *testing.T, s Store) {
	_, inFolder := s.(*fileio.Store)
	contents := map[string]bool{}
	var data [][]byte
	for i := range 6 {
		data = append(data, Content(i, 50_000*(i+1)))
		contents[string(data[i])] = true
	}
	Put(t, s, "x", data[0])
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for _, d := range data {
		writers.Go(func() {
			for range 5 {
				if _, err := s.Put(t.Context(), "x", bytes.NewReader(d), int64(len(d)), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		readers.Go(func() {
			for {
				got, err := Get(t.Context(), s, "x")
				replaced := err != nil && !inFolder && strings.Contains(err.Error(), "the file was replaced while it was read")
				if !replaced && (err != nil || !contents[string(got)]) {
					t.Errorf("%d bytes that nobody wrote, %v", len(got), err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

// manyClients has many goroutines do all operations, each with its own files.
func manyClients(t *testing.T, s Store) {
	var wait sync.WaitGroup
	for who := range 20 {
		wait.Go(func() {
			for i := range 6 {
				name := fmt.Sprintf("%d/%d", who, i)
				data := Content(who*100+i, []int{0, 100, 5_000, 50_000, 262_144, 700_000}[i])
				if _, err := s.Put(t.Context(), name, bytes.NewReader(data), int64(len(data)), nil); err != nil {
					t.Error(err)
					return
				}
				if got, err := Get(t.Context(), s, name); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%s has %d bytes of %d, %v", name, len(got), len(data), err)
				}
				if i%2 == 0 {
					if err := s.Delete(t.Context(), name, nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wait.Wait()
	infos, more, err := s.List(t.Context(), "", "", fileio.ListMax)
	if err != nil || more || len(infos) != 60 {
		t.Errorf("%d files remain, %v, %v", len(infos), more, err)
	}
}

func replaceWhileRead(t *testing.T, s *fileio.Store) {
	data := Content(1, 1_000_000)
	Put(t, s, "x", data)
	f, err := s.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	err = f.CopyTo(t.Context(), &b, 0, 500_000)
	Put(t, s, "x", []byte("other"))
	if err := errors.Join(err, f.CopyTo(t.Context(), &b, 500_000, 500_000)); err != nil || !bytes.Equal(b.Bytes(), data) {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	if err := s.Delete(t.Context(), "x", nil); err != nil {
		t.Error(err)
	}
	b.Reset()
	if err := f.CopyTo(t.Context(), &b, 999_000, 1_000); err != nil || !bytes.Equal(b.Bytes(), data[999_000:]) {
		t.Errorf("after it was deleted: %d bytes, %v", b.Len(), err)
	}
}
