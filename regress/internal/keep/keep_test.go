package keep

import (
	"errors"
	"path/filepath"
	"testing"

	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

var stdout = outcome.Key{Place: outcome.Stdout}

// printed returns a run that printed a text.
func printed(text string) *exec.Result {
	o := outcome.Outcome{Parts: []outcome.Part{{Key: stdout, Form: outcome.Regular, Digest: outcome.Of([]byte(text)), Size: int64(len(text))}}}
	return exec.NewResult(o, outcome.Cost{}, exec.NoLane, []exec.Content{{Key: stdout, Bytes: []byte(text)}}, nil)
}

func noRules(t *testing.T) content.Sameness {
	t.Helper()
	rules, err := normalize.Parse(nil)
	must(t, err)
	return content.NewComparer(rules).Same
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Each run is counted in the record of its case. An interrupted run leaves the store for the next
// one.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "found")
	s, err := Resume(path, golden.Meta{})
	must(t, err)
	must(t, s.Put(t.Context(), "a.c", printed("now"), Unlike))
	must(t, s.Merge(t.Context(), "a.c", printed("old"), Alike, noRules(t)))
	must(t, s.Merge(t.Context(), "a.c", printed("no"), CutShort, noRules(t)))
	must(t, s.End(errors.New("interrupted")))

	s, err = Resume(path, golden.Meta{})
	must(t, err)
	rec, stored, err := s.Get("a.c")
	if err != nil || !stored || rec.Runs != 2 || rec.Equal != 1 || !rec.Outcome.Flaky() {
		t.Errorf("%+v, stored %v, %v", rec, stored, err)
	}
	if v, unstable := Judge(&printed("old").Outcome, &rec, outcome.Comparison{}); v != regress.Flaky || unstable {
		t.Errorf("%v, unstable %v", v, unstable)
	}
	must(t, s.Drop())
}

// Runs that equalled the golden are not kept until another run differs.
func TestPutAfter(t *testing.T) {
	s := &Store{Path: filepath.Join(t.TempDir(), "found")}
	now, old := printed("now"), printed("old")
	must(t, s.PutAfter(t.Context(), FirstRecord("a.c", now, Unlike), now.Open, 2, Equalled{&old.Outcome, old.Open, noRules(t)}))
	rec, _, err := s.Get("a.c")
	if err != nil || rec.Runs != 3 || rec.Equal != 2 || !rec.Outcome.Flaky() {
		t.Errorf("%+v, %v", rec, err)
	}
	must(t, s.Drop())
}
