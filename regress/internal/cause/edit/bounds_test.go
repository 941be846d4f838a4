package edit

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The number of steps is bounded by the number of bytes, whatever is compared.
func TestStepsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := rand.New(rand.NewPCG(1, 2))
	noise := func(letters string) []byte {
		b := make([]byte, 1<<18)
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return b
	}
	repeated := strings.Repeat("a b c ( d ) ; a b\n", 1<<14)
	for _, c := range []struct {
		name     string
		old, now []byte
	}{
		{"words", noise("abcd \n"), noise("abcd \n")},
		{"signs", noise("(){};+-"), noise("(){};+-")},
		{"short lines", noise("ab\n"), noise("ab\n")},
		{"repeated", []byte(repeated), []byte(strings.ReplaceAll(repeated, "c", "d a b") + "x")},
	} {
		s := &Comparer{}
		s.Compare(c.old, c.now, NewWords())
		if s.Work < -workLeast {
			t.Errorf("%s: %d steps too many of %d", c.name, -s.Work, workFor(c.old, c.now))
		}
	}
}
