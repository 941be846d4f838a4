package golden

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"muster/regress"
	"muster/regress/internal/outcome"
)

func TestPutsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	const lanes, each = 8, 50
	b := bag{}
	state := whole{Records: map[string]Record{}, Contents: b}
	for i := range lanes * each {
		// Half of the contents are shared, some are put by all at the same time.
		r := b.simple(fmt.Sprintf("case%03d", i), "out", incompressible(byte(i/2), pieceMax+i%3))
		state.Records[r.Name] = r
	}
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for lane := range lanes {
		wg.Go(func() {
			for i := range each {
				r := state.Records[fmt.Sprintf("case%03d", i*lanes+lane)]
				if err := w.Put(t.Context(), r, b.open); err != nil {
					t.Error(err)
				}
				if got, ok, err := w.Get(r.Name); err != nil || !ok || !reflect.DeepEqual(got, r) {
					t.Errorf("%s: %v %v", r.Name, ok, err)
				}
				file := r.Outcome.Parts[2]
				if i%10 > 0 {
					continue // each reading makes its statements anew
				}
				if got, err := w.Bytes(file); err != nil || !bytes.Equal(got, b[file.Digest]) {
					t.Errorf("%s: %d bytes, %v", r.Name, len(got), err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	same(t, mustRead(t, path), state)
	if n := blobCount(t, path); n != nonEmpty(b) {
		t.Errorf("%d blobs, want %d", n, nonEmpty(b))
	}
}

func TestContentIsChecked(t *testing.T) {
	good := incompressible(0, 2*pieceMax)
	read := func(content []byte) Content {
		return func(outcome.Part) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	}
	broken := errors.New("broken")
	tests := map[string]struct {
		change  func(*outcome.Part)
		content Content
		says    string
	}{
		"too short":             {nil, read(good[:len(good)-1]), fmt.Sprint("not ", len(good))},
		"too long":              {nil, read(append(good[:len(good):len(good)], 0)), "more than"},
		"another":               {nil, read(incompressible(1, len(good))), "digest differs"},
		"empty but not so":      {func(p *outcome.Part) { p.Size = 0 }, read(nil), "digest differs"},
		"no content":            {nil, func(outcome.Part) (io.ReadCloser, error) { return nil, broken }, "broken"},
		"a part there twice":    {func(p *outcome.Part) { p.Path = "twice" }, read(good), "twice"},
		"gone, with content":    {func(p *outcome.Part) { p.Form = outcome.Gone }, read(good), "gone"},
		"ignored, with content": {func(p *outcome.Part) { p.Form = outcome.Ignored }, read(good), "ignored"},
		"executable link":       {func(p *outcome.Part) { p.Form, p.Exec = outcome.Symlink, true }, read(good), "executable"},
		"no name":               {func(p *outcome.Part) { p.Path = "" }, read(good), "path"},
		"an unknown form":       {func(p *outcome.Part) { p.Form = outcome.Ignored + 1 }, read(good), "neither"},
		"negative size":         {func(p *outcome.Part) { p.Size = -1 }, read(good), "size"},
		"size of other digest":  {func(p *outcome.Part) { *p = (bag{}).part(p.Place, p.Path, 0, []byte("known")); p.Size++ }, read(good), "more than 6"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "g")
			w, err := Create(path, Meta{})
			if err != nil {
				t.Fatal(err)
			}
			b := bag{}
			before := b.simple("before", "known", nil)
			if err := w.Put(t.Context(), before, b.open); err != nil {
				t.Fatal(err)
			}
			r := Record{Name: "case"}
			p := b.part(outcome.File, "f", outcome.Regular, good)
			if test.change != nil {
				test.change(&p)
			}
			r.Outcome.Parts = []outcome.Part{b.part(outcome.File, "twice", outcome.Regular, []byte("x")), p}
			err = w.Put(t.Context(), r, func(p outcome.Part) (io.ReadCloser, error) {
				if p.Path == "twice" {
					return b.open(p)
				}
				return test.content(p)
			})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want something with %q", err, test.says)
			}
			if err := w.Finish(); err != nil {
				t.Fatal(err)
			}
			if got := mustRead(t, path); len(got.Records) != 1 || blobCount(t, path) != 1 {
				t.Errorf("%d records and %d blobs are left, want the one", len(got.Records), blobCount(t, path))
			}
		})
	}
}

func TestCancelledPut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b := bag{}
	r := b.simple("case", "out", incompressible(0, 100*pieceMax))
	seen := 0
	err = w.Put(ctx, r, func(p outcome.Part) (io.ReadCloser, error) {
		rc, err := b.open(p)
		return struct {
			io.Reader
			io.Closer
		}{io.TeeReader(rc, writerFunc(func(b []byte) {
			if seen += len(b); seen > 10*pieceMax {
				cancel()
			}
		})), rc}, err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, found, err := w.Get("case"); found || err != nil {
		t.Errorf("a cancelled record is there: %v", err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if n := blobCount(t, path); n != 0 {
		t.Errorf("%d blobs are left", n)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	if _, err := Resume(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("nothing there: %v", err)
	}
	alone(t, path)
	b := bag{}
	meta := Meta{Machine: "this", Repeat: 2, Run: "20250131-142501-3f9a"}
	w, err := Create(path, meta)
	if err != nil {
		t.Fatal(err)
	}
	one, two := b.simple("one", "1", incompressible(1, 3*pieceMax)), b.simple("two", "2", nil)
	if err := w.Put(t.Context(), one, b.open); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an aborted store is there: %v", err)
	}
	if _, err := Open(path + partSuffix); regress.ClassOf(err) != regress.Input {
		t.Errorf("an unfinished store opens: %v", err)
	}
	if w, err = Resume(path); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(w.Meta(), meta) {
		t.Errorf("meta %v", w.Meta())
	}
	if got, ok, err := w.Get("one"); err != nil || !ok || !reflect.DeepEqual(got, one) {
		t.Errorf("%v %v %v", got, ok, err)
	}
	if err := w.Put(t.Context(), two, b.open); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	same(t, mustRead(t, path), whole{Meta: meta, Records: map[string]Record{"one": one, "two": two}, Contents: b})
}

// A damaged unfinished store is detected before anything is built on it.
func TestResumeOfDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	content := incompressible(1, 3*pieceMax)
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Put(t.Context(), b.simple("one", "1", content), b.open); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(true); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path + partSuffix)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(file, content[pieceMax:pieceMax+64])
	if at < 0 {
		t.Fatal("the content is not in the file as it is")
	}
	file[at]++
	if err := os.WriteFile(path+partSuffix, file, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Resume(path)
	wantClass(t, err, regress.Input)
	// It is still possible to begin again.
	build(t, path, whole{Contents: bag{}})
	alone(t, path)
}

func TestOneWriterAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, whole{Contents: bag{}})
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	update := func() error { return Update(path, func(*Tx) error { return nil }) }
	attempts := map[string]func() error{
		"Create": func() error { _, err := Create(path, Meta{}); return err },
		"Resume": func() error { _, err := Resume(path); return err },
		"Update": update,
	}
	for name, attempt := range attempts {
		err := attempt()
		wantClass(t, err, regress.Input)
		if holder := fmt.Sprintf("process %d", os.Getpid()); err == nil || !strings.Contains(err.Error(), holder) {
			t.Errorf("%s: %v does not name %s", name, err, holder)
		}
	}
	if err := w.Abort(false); err != nil {
		t.Fatal(err)
	}
	if err := update(); err != nil {
		t.Error(err)
	}
	alone(t, path)
}

func TestAbortLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	state := whole{Records: map[string]Record{"a": b.simple("a", "1", nil)}, Contents: b}
	build(t, path, state)
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	putAll(t, w, whole{Records: map[string]Record{"b": b.simple("b", "2", nil)}, Contents: b})
	if _, err := w.Bytes(outcome.Part{}); !errors.Is(err, errNoContent) {
		t.Errorf("content of nothing: %v", err)
	}
	if err := w.Abort(false); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, path); len(got.Records) != 1 {
		t.Errorf("the golden has %d records", len(got.Records))
	}
	if err := w.Put(t.Context(), b.simple("c", "", nil), b.open); err == nil {
		t.Error("Put after Abort")
	}
	if err := w.Finish(); err == nil {
		t.Error("Finish after Abort")
	}
}

// A golden that is a symbolic link stays one.
func TestSymbolicLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "a", "real"), filepath.Join(dir, "b", "link")
	mkdirs(t, real, link)
	if err := os.WriteFile(real, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	b := bag{}
	build(t, link, whole{Records: map[string]Record{"a": b.simple("a", "1", nil)}, Contents: b})
	err := Update(link, func(tx *Tx) error { return tx.Put(b.simple("b", "2", nil), b.open) })
	if err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, real); len(got.Records) != 2 {
		t.Errorf("%d records", len(got.Records))
	}
	alone(t, link)
}

// Every byte that a path can hold is a byte of the path.
func TestStrangePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a?mode=ro&x=%41#b\n\xff 'é")
	build(t, path, whole{Contents: bag{}})
	if err := Update(path, func(tx *Tx) error { return tx.SetMeta(Meta{Machine: "m"}) }); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, path); got.Meta.Machine != "m" {
		t.Errorf("meta %v", got.Meta)
	}
}

func TestNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "g")
	_, err := Create(path, Meta{})
	wantClass(t, err, regress.Input)
	_, err = Open(path)
	wantClass(t, err, regress.Input)
	wantClass(t, Update(path, func(*Tx) error { return nil }), regress.Input)
}
