package cause

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// The cost of an edit does not depend on the number of atoms, nor on how many begin alike. For
// each element of the edit, an atom is visited at most once.
func TestAtomsAreNotTriedOneByOne(t *testing.T) {
	const many = 20_000
	say := func(n int) string { return "wput wword" + strconv.Itoa(n) + " p;" }
	a := newAtoms()
	for i := range many {
		a.addAll(parse("e "+say(i)+"\t"), i)
	}
	for i := range many {
		p := parse("e " + say(i) + " " + say(many-1-i) + "\t")
		tiles, ok := a.parse(&p, atomsMax, func(int) bool { return true })
		if !ok || len(tiles) != 2 || tiles[0].shape != i || tiles[1].shape != many-1-i {
			t.Fatalf("%s is %v", p.key(), tiles)
		}
	}
	if steps := (atomsWork - a.work) / many; steps > 50 {
		t.Errorf("%d steps for an edit of six elements", steps)
	}
}

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
		one := &text{old: c.old, now: c.now, words: newWords(), scratch: &scratch{}}
		one.around[0].text, one.around[1].text = one.old, one.now
		one.scratch.work = workFor(c.old, c.now)
		one.compare()
		if one.scratch.work < -workLeast {
			t.Errorf("%s: %d steps too many of %d", c.name, -one.scratch.work, workFor(c.old, c.now))
		}
	}
}
