package analyse_test

import (
	"slices"
	"testing"

	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
)

// Names of causes contain output of tools, which may control a terminal.
func TestMakePrintable(t *testing.T) {
	c := cause.Cause{Name: "a\x1b[2J", Family: "b\nc", Joined: []string{"d\r (2)"}, Folded: []string{"e\u202e"}}
	got := analyse.MakePrintable(&cause.Found{Causes: []cause.Cause{c}}).Causes[0]
	for _, name := range slices.Concat([]string{got.Name, got.Family}, got.Joined, got.Folded) {
		for _, r := range name {
			if r < ' ' || r == '\u202e' {
				t.Errorf("%q", name)
			}
		}
	}
}
