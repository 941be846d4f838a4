package analyse

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"testing"
	"weak"

	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// countedOpens opens what it has, and counts how often.
type countedOpens struct {
	content map[string][]byte // by the path of the part
	opened  int
}

func (c *countedOpens) open(p outcome.Part) (io.ReadCloser, error) {
	c.opened++
	b, known := c.content[p.Path]
	if !known {
		return nil, errors.New("gone")
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func file(path string, size int64) outcome.Part {
	return outcome.Part{Key: outcome.Key{Place: outcome.File, Path: path}, Form: outcome.Regular, Size: size, Digest: outcome.Digest{byte(size)}}
}

// A case that differs is compared, has causes and an excerpt: its contents are read once,
// also where rules rewrite them.
func TestContentsAreReadOnce(t *testing.T) {
	old := outcome.Outcome{Parts: []outcome.Part{file("a", 5), file("b", 6)}}
	now := outcome.Outcome{Parts: []outcome.Part{file("a", 7), file("b", 8)}}
	was := countedOpens{content: map[string][]byte{"a": []byte("1 old"), "b": []byte("2 olde")}}
	is := countedOpens{content: map[string][]byte{"a": []byte("1 newer"), "b": []byte("2 oldest")}}
	for _, flags := range [][]string{nil, {"s/e(st)?$//"}} {
		rules, err := normalize.Parse(flags)
		if err != nil {
			t.Fatal(err)
		}
		was.opened, is.opened = 0, 0
		a, b := content.Side{Outcome: &old, Open: was.open}.Cached(), content.Side{Outcome: &now, Open: is.open}.Cached()
		c, err := outcome.Compare(&old, &now, content.SameUnder(rules, a, b))
		if err != nil {
			t.Fatal(err)
		}
		d, err := describe(rules, "x", 0, a, b, c)
		if err != nil || len(d.Parts) != 2-len(flags) || string(d.Parts[0].NowText) != "1 newer" {
			t.Fatalf("%+v, %v", d, err)
		}
		list, _, err := Differences(rules, a, b, c)
		if err != nil || len(list) != len(d.Parts) || list[0].Diff == "" {
			t.Fatalf("%+v, %v", list, err)
		}
		if was.opened != 2 || is.opened != 2 {
			t.Errorf("with the rules %q: %d and %d contents were opened, there are 2", flags, was.opened, is.opened)
		}
	}
}

// An event waits for others and for reporters, so it holds no contents of binaries: they are read again.
func TestDifferencesHoldNoBinaries(t *testing.T) {
	old, now := outcome.Outcome{Parts: []outcome.Part{file("a", 4)}}, outcome.Outcome{Parts: []outcome.Part{file("a", 5)}}
	was, is := countedOpens{content: map[string][]byte{"a": []byte("\x00old")}}, countedOpens{content: map[string][]byte{"a": []byte("\x00newe")}}
	a, b := content.Side{Outcome: &old, Open: was.open}.Cached(), content.Side{Outcome: &now, Open: is.open}.Cached()
	c, err := outcome.Compare(&old, &now, content.SameUnder(nil, a, b))
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := Differences(nil, a, b, c)
	if err != nil || len(list) != 1 || list[0].Contents == nil || was.opened != 1 || is.opened != 1 {
		t.Fatalf("%+v, %v, opened %d and %d", list, err, was.opened, is.opened)
	}
	read, err := content.ReadAll(a.Open, old.Parts[0])
	if err != nil {
		t.Fatal(err)
	}
	kept := weak.Make(&read[0])
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the event holds a content")
	}
	if x, y, err := list[0].Contents(); string(x) != "\x00old" || string(y) != "\x00newe" || err != nil {
		t.Errorf("%q, %q, %v", x, y, err)
	}
}

// A golden that cannot be read gives its error, and no sides.
func TestRunSidesOfUnreadableGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	w, err := golden.Create(path, golden.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	rec := golden.Record{Name: "x", Outcome: outcome.Outcome{Ending: regress.Ending{Kind: regress.Exited}}}
	if err := errors.Join(w.Put(t.Context(), rec, nil), w.Finish()); err != nil {
		t.Fatal(err)
	}
	s, err := golden.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, is, err := RunSides(s, s, "x"); err != nil || is.Outcome == nil {
		t.Fatalf("%+v, %v", is, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if was, is, err := RunSides(s, s, "x"); err == nil || was.Outcome != nil || is.Outcome != nil {
		t.Errorf("%+v, %+v, %v", was, is, err)
	}
}
