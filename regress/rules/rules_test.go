package rules

import (
	"bytes"
	"path/filepath"
	"testing"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/golden"
)

// A golden from somebody else may have several rules of one number. Revoke leaves none of them.
func TestRevokeEveryRuleOfANumber(t *testing.T) {
	var o regress.Options
	o.Store.Golden, o.Store.State = filepath.Join(t.TempDir(), "g"), t.TempDir()
	w, err := golden.Create(o.Store.Golden, golden.Meta{Rules: []golden.Rule{{Number: 1}, {Number: 2}, {Number: 1}}})
	if err == nil {
		err = w.Finish()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := Revoke(t.Context(), o, host.Host{Stdout: &bytes.Buffer{}}, "R1"); err != nil {
		t.Fatal(err)
	}
	s, err := golden.Open(o.Store.Golden)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if left := s.Meta().Rules; len(left) != 1 || left[0].ID() != "R2" {
		t.Errorf("%+v is left", left)
	}
}
