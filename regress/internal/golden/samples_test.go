package golden

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// bag holds contents by digest.
type bag map[outcome.Digest][]byte

func (b bag) open(p outcome.Part) (io.ReadCloser, error) {
	content, ok := b[p.Digest]
	if !ok {
		return nil, fmt.Errorf("the test has no content of %s", p)
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// part makes a part and puts its content into the bag.
func (b bag) part(place outcome.Place, path string, form outcome.Form, content []byte) outcome.Part {
	d := outcome.Of(content)
	b[d] = append([]byte{}, content...)
	return outcome.Part{Key: outcome.Key{Place: place, Path: path}, Form: form, Size: int64(len(content)), Digest: d}
}

// simple returns a record with a text on each stream and one file.
func (b bag) simple(name, out string, file []byte) Record {
	return Record{
		Name: name, Runs: 2,
		Cost: outcome.Cost{CPU: time.Millisecond, Wall: 2 * time.Millisecond, PeakRSS: 3000},
		Outcome: outcome.Outcome{Parts: []outcome.Part{
			b.part(outcome.Stdout, "", outcome.Regular, []byte(out)),
			b.part(outcome.Stderr, "", outcome.Regular, nil),
			b.part(outcome.File, name+".out", outcome.Regular, file),
		}},
	}
}

// whole is the full content of a store.
type whole struct {
	Meta     Meta
	Records  map[string]Record
	Contents bag
	Shared   map[string]outcome.Digest
}

// sealed returns the content of a store after unused accepts are removed.
func (w whole) sealed() whole {
	moved, accepts := map[int]int{}, []Accept(nil)
	for i, a := range w.Meta.Accepts {
		for _, r := range w.Records {
			if r.Origin == i+1 {
				accepts = append(accepts, a)
				moved[i+1] = len(accepts)
				break
			}
		}
	}
	records := map[string]Record{}
	for n, r := range w.Records {
		r.Origin = moved[r.Origin]
		records[n] = r
	}
	w.Meta.Accepts, w.Records = accepts, records
	return w
}

// flaky returns a part that differed from run to run, and was seen in those shapes.
func flaky(p outcome.Part, seen ...outcome.Shape) outcome.Part {
	p.Flaky, p.Seen = true, outcome.ShapesOf(seen...)
	return p
}

// variant returns a content of another run.
func (b bag) variant(content []byte) outcome.Variant {
	p := b.part(outcome.Stdout, "", outcome.Regular, content)
	return outcome.Variant{Size: p.Size, Digest: p.Digest}
}

// build makes a store of that at path.
func build(t testing.TB, path string, from whole) {
	t.Helper()
	w, err := Create(path, from.Meta)
	if err != nil {
		t.Fatal(err)
	}
	putAll(t, w, from)
	if from.Shared != nil {
		if err := w.PutShared(from.Shared); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
}

func putAll(t testing.TB, w *Writer, from whole) {
	t.Helper()
	for _, n := range slices.Sorted(maps.Keys(from.Records)) {
		if err := w.Put(context.Background(), from.Records[n], from.Contents.open); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns everything that the store at path holds.
func read(path string) (whole, error) {
	s, err := Open(path)
	if err != nil {
		return whole{}, err
	}
	defer s.Close()
	all := whole{Meta: s.Meta(), Records: map[string]Record{}, Contents: bag{}}
	if all.Shared, err = s.Shared(); err != nil {
		return all, err
	}
	for n := range s.Names() {
		r, ok, err := s.Get(n)
		if err != nil {
			return all, err
		}
		if d, found := s.OutcomeDigest(n); !ok || !found || d != r.Outcome.Digest() || s.Flaky(n) != r.Outcome.Flaky() || s.Source(n) != r.Source || s.Origin(n) != r.Origin {
			return all, fmt.Errorf("%q: Get and the index disagree", n)
		}
		all.Records[n] = r
		for p := range WithContent(&r.Outcome) {
			if all.Contents[p.Digest], err = contentOf(s, p); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// contentOf returns the whole content of a part.
func contentOf(s *Store, p outcome.Part) ([]byte, error) {
	r, err := s.contents.open(p)
	if err != nil {
		return nil, err
	}
	return r.all()
}

// same fails and names the difference unless both states are equal.
func same(t interface{ Errorf(string, ...any) }, got, want whole) {
	if !reflect.DeepEqual(got.Meta, want.Meta) {
		t.Errorf("meta\n%+v, want\n%+v", got.Meta, want.Meta)
	}
	if !reflect.DeepEqual(got.Shared, want.Shared) {
		t.Errorf("shared %v, want %v", got.Shared, want.Shared)
	}
	if len(got.Records) != len(want.Records) || len(got.Contents) != len(want.Contents) {
		t.Errorf("%d records and %d contents, want %d and %d",
			len(got.Records), len(got.Contents), len(want.Records), len(want.Contents))
	}
	for n, w := range want.Records {
		if g := got.Records[n]; !reflect.DeepEqual(g, w) {
			t.Errorf("case %q\n%+v, want\n%+v", n, g, w)
		}
	}
	for d, w := range want.Contents {
		if g := got.Contents[d]; !bytes.Equal(g, w) {
			t.Errorf("content %s: %d bytes, want %d", d, len(g), len(w))
		}
	}
}

// mustRead is read for a store without damage and without files beside it.
func mustRead(t testing.TB, path string) whole {
	t.Helper()
	all, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	alone(t, path)
	return all
}

// alone fails unless the file at path is the only one in its folder.
func alone(t testing.TB, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s lies beside the golden", e.Name())
		}
	}
}

func wantClass(t testing.TB, err error, class regress.Class) {
	t.Helper()
	if got := regress.ClassOf(err); got != class {
		t.Errorf("class %d, want %d: %v", got, class, err)
	}
}

// digestOf opens the store at path for its digest.
func digestOf(t testing.TB, path string) outcome.Digest {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.Digest()
}

// incompressible returns size bytes that are different for each seed.
func incompressible(seed byte, size int) []byte {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

func mkdirs(t testing.TB, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
