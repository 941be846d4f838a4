package cause

import (
	"bytes"
	"strings"
)

// movedMin is how many elements must be gone here and be there for it to have moved: of
// less it may be chance.
const movedMin = 3

// moved gives one pattern to what a text has no longer in some places and has in as many
// others. What stands beside either place has nothing to do with it.
func (t *text) moved() {
	opposites := t.opposites()
	if len(opposites) == 0 {
		return
	}
	at := map[int32][]int{}
	for i := range t.places {
		at[t.places[i].pattern] = append(at[t.places[i].pattern], i)
	}
	for _, o := range opposites {
		gone, come := at[o.gone], at[o.come]
		if len(gone) == 0 || len(gone) != len(come) || !t.sameTexts(gone, come) {
			continue
		}
		m := t.words.add("m " + o.side + "\t" + o.side)
		for _, i := range append(gone, come...) {
			t.places[i].pattern, t.places[i].cut = m, -1
		}
	}
}

// An opposite is what one pattern takes away and another one puts somewhere.
type opposite struct {
	side       string
	gone, come int32
}

func (t *text) opposites() (found []opposite) {
	for i, key := range t.words.list {
		side, isEdit := strings.CutPrefix(key, "e ")
		side, isGone := strings.CutSuffix(side, "\t")
		if !isEdit || !isGone || strings.Count(side, " ") < movedMin-1 || !strings.Contains(" "+side, " w") {
			continue
		}
		if n, known := t.words.numbers["e \t"+side]; known {
			found = append(found, opposite{side, int32(i), n})
		}
	}
	return found
}

// sameTexts reports whether what is gone is what has come, one by one.
func (t *text) sameTexts(gone, come []int) bool {
	for i := range gone {
		x, y := t.places[gone[i]].Old, t.places[come[i]].Now
		if !bytes.Equal(bytes.TrimSpace(t.old[x.From:x.To]), bytes.TrimSpace(t.now[y.From:y.To])) {
			return false
		}
	}
	return true
}
