package diff

import (
	"fmt"
)

// A hunk is a group of changes whose contexts meet, with that context: lines [oldFrom, oldTo) and
// [nowFrom, nowTo).
type hunk struct {
	change
	changes []change
}

// hunks groups changes. oldLines is the number of lines of old.
func hunks(changes []change, context, oldLines int) []hunk {
	var groups []hunk
	for _, c := range changes {
		n := len(groups)
		if n > 0 && c.oldFrom-groups[n-1].oldTo <= 2*context {
			h := &groups[n-1]
			h.oldTo, h.nowTo = c.oldTo, c.nowTo
			h.changes = append(h.changes, c)
			continue
		}
		groups = append(groups, hunk{c, []change{c}})
	}
	for i := range groups {
		h := &groups[i]
		// Lines around a change are equal, so both sides have the same number.
		lead, trail := min(context, h.oldFrom), min(context, oldLines-h.oldTo)
		h.oldFrom, h.nowFrom = h.oldFrom-lead, h.nowFrom-lead
		h.oldTo, h.nowTo = h.oldTo+trail, h.nowTo+trail
	}
	return groups
}

// header returns the line that opens a hunk. before counts the lines cut off at the start of both
// texts.
func (c change) header(before int) string {
	return "@@ -" + lineRange(c.oldFrom, c.oldTo, before) + " +" + lineRange(c.nowFrom, c.nowTo, before) + " @@"
}

// size returns the number of lines of a change on both sides.
func (c change) size() int { return c.oldTo - c.oldFrom + c.nowTo - c.nowFrom }

func lineRange(from, to, before int) string {
	switch to - from {
	case 0:
		// As in diff -u, an empty range names the line before it.
		return fmt.Sprintf("%d,0", before+from)
	case 1:
		return fmt.Sprint(before + from + 1)
	}
	return fmt.Sprintf("%d,%d", before+from+1, to-from)
}
