package cause

import (
	"strconv"
	"testing"

	"muster/regress/internal/cause/pattern"
)

// The cost of an edit does not depend on the number of atoms, nor on how many begin alike. For
// each element of the edit, an atom is visited at most once.
func TestAtomsAreNotTriedOneByOne(t *testing.T) {
	const many = 20_000
	say := func(n int) string { return "wput wword" + strconv.Itoa(n) + " p;" }
	a := newAtoms()
	for i := range many {
		a.addAll(pattern.Parse("e "+say(i)+"\t"), i)
	}
	for i := range many {
		p := pattern.Parse("e " + say(i) + " " + say(many-1-i) + "\t")
		tiles, ok := a.parse(&p, atomsMax, func(int) bool { return true })
		if !ok || len(tiles) != 2 || tiles[0].shape != i || tiles[1].shape != many-1-i {
			t.Fatalf("%s is %v", p.Key(), tiles)
		}
	}
	if steps := (atomsWork - a.work) / many; steps > 50 {
		t.Errorf("%d steps for an edit of six elements", steps)
	}
}
