package golden

import (
	"encoding/json"
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

// The two fields of an accept show that nobody else changed the golden between.
func TestAcceptTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, whole{Contents: bag{}})
	base := digestOf(t, path)
	for range 2 {
		err := Update(path, func(tx *Tx) error {
			m := tx.Meta()
			if tx.Digest() != base && (m.AcceptedRun != "R" || m.AcceptBase != base) {
				t.Error("the second accept can't tell")
			}
			m.AcceptedRun, m.AcceptBase = "R", base
			return tx.SetMeta(m)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// An accept by this muster keeps the fields of a later muster in the meta.
func TestUnknownMetaStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	build(t, path, whole{Contents: bag{}})
	err := Update(path, func(tx *Tx) error {
		all := map[string]any{}
		if err := json.Unmarshal(tx.encoded, &all); err != nil {
			return err
		}
		all["later"] = []int{1}
		var err error
		if tx.encoded, err = json.Marshal(all); err != nil {
			return err
		}
		return tx.SetMeta(Meta{Repeat: 3})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = Update(path, func(tx *Tx) error {
		all := map[string]any{}
		if err := json.Unmarshal(tx.encoded, &all); err != nil {
			return err
		}
		if all["later"] == nil || tx.Meta().Repeat != 3 {
			t.Errorf("meta is %v", all)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// So it does for the fields of a later muster in an accept or a selection.
func TestUnknownFieldsInMetaStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	r := b.simple("a", "1", nil)
	r.Origin = 2
	m := Meta{Accepts: []Accept{{Run: "gone"}, {Run: "R", later: map[string]json.RawMessage{"rules": json.RawMessage(`[1]`)}}}}
	m.Selection = Selection{Sample: 3, later: map[string]json.RawMessage{"shards": json.RawMessage(`2`)}}
	build(t, path, whole{Meta: m, Records: map[string]Record{"a": r}, Contents: b})
	for range 2 {
		m = mustRead(t, path).Meta
		if len(m.Accepts) != 1 || m.Accepts[0].Run != "R" || string(m.Accepts[0].later["rules"]) != "[1]" ||
			m.Selection.Sample != 3 || string(m.Selection.later["shards"]) != "2" || m.Selection.Everything() {
			t.Fatalf("%+v", m)
		}
		if err := Update(path, func(tx *Tx) error { return tx.SetMeta(tx.Meta()) }); err != nil {
			t.Fatal(err)
		}
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
