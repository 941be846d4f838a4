package golden

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"muster/regress"
	"muster/regress/internal/outcome"
)

func TestUpdateThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	state := whole{Records: map[string]Record{"a": b.simple("a", "1", nil)}, Contents: b}
	build(t, path, state)
	before := digestOf(t, path)
	own := errors.New("own")
	err := Update(path, func(tx *Tx) error {
		if err := tx.Put(b.simple("b", "2", incompressible(1, 4*pieceMax)), b.open); err != nil {
			return err
		}
		if _, ok, err := tx.Get("b"); !ok || err != nil {
			t.Errorf("b is not there: %v", err)
		}
		return own
	})
	if err != own {
		t.Errorf("got %v", err)
	}
	if got := mustRead(t, path); len(got.Records) != 1 || digestOf(t, path) != before {
		t.Error("something was changed")
	}
}

// An outcome cannot come by an accept that is not listed.
func TestUnknownOrigin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	build(t, path, whole{Contents: b})
	err := Update(path, func(tx *Tx) error {
		r := b.simple("a", "1", nil)
		r.Origin = 1
		return tx.Put(r, b.open)
	})
	wantClass(t, err, regress.Input)
	if got := mustRead(t, path); len(got.Records) > 0 {
		t.Error("it was put")
	}
}

// A store that is open during an Update answers from before, or fails; it never mixes.
func TestUpdateBesideAReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	old := whole{Records: map[string]Record{
		"a": b.simple("a", "1", incompressible(1, 2*pieceMax)), "b": b.simple("b", "1", nil),
	}, Contents: b}
	build(t, path, old)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = Update(path, func(tx *Tx) error { return tx.Put(b.simple("a", "2", nil), b.open) })
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := s.OutcomeDigest("a"); !ok || d != digest(old.Records["a"]) {
		t.Error("the index has changed")
	}
	if got, ok, err := s.Get("b"); err != nil || !ok || !reflect.DeepEqual(got, old.Records["b"]) {
		t.Errorf("what was not changed: %v %v %v", got, ok, err)
	}
	_, _, err = s.Get("a")
	wantClass(t, err, regress.Input)
	_, err = contentOf(s, old.Records["a"].Outcome.Parts[2])
	wantClass(t, err, regress.Input)
}

func digest(r Record) outcome.Digest { return r.Outcome.Digest() }

// A store that is open while another replaces its file continues.
func TestFinishBesideAReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	old := whole{Records: map[string]Record{"a": b.simple("a", "1", incompressible(1, 100))}, Contents: b}
	build(t, path, old)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	build(t, path, whole{Contents: bag{}})
	r, ok, err := s.Get("a")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if content, err := contentOf(s, r.Outcome.Parts[2]); err != nil || len(content) != 100 {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}
