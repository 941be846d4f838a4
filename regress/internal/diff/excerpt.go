package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"muster/regress/internal/plaintext"
)

// A Change is a place where two contents differ, as ranges of bytes or of lines.
type Change struct{ OldFrom, OldTo, NowFrom, NowTo int }

// An Edit is a change with its owner.
type Edit struct {
	Change
	By string // "" = the excerpt shows it
}

// Bounds of an excerpt.
const (
	excerptLines   = 14
	excerptContext = 2
	excerptColumns = 160
	excerptEdits   = 500 // on each side of the edit that is shown
)

// Excerpt shows an edit as a hunk of a unified diff. edits are all differences of both texts, in
// order and without overlap. at is the index of the edit to show.
//
// Lines in which only the edits of others differ have the signs < and >. A remark names those
// others, and counts the lines without room. Excerpt returns nothing if an edit is outside the
// contents, or if a content is not text.
func Excerpt(old, now []byte, edits []Edit, at int) string {
	return excerptOf(old, now, edits, at, false)
}

// ExcerptMarked is Excerpt in colour. In changed lines it marks what the excerpt's own edits
// replace.
func ExcerptMarked(old, now []byte, edits []Edit, at int) string {
	return excerptOf(old, now, edits, at, true)
}

func excerptOf(old, now []byte, edits []Edit, at int, isMarked bool) string {
	isOutside := func(e Edit) bool {
		return e.OldFrom > e.OldTo || e.OldTo > len(old) || e.NowFrom > e.NowTo || e.NowTo > len(now)
	}
	if slices.ContainsFunc(edits, isOutside) || !plaintext.Is(old) || !plaintext.Is(now) {
		return ""
	}
	out := &strings.Builder{}
	s := newSheet(out, excerptLines, excerptColumns, isMarked)
	near := around(old, now, edits, at)
	w := newWindow(near)
	if w.rows() > s.room {
		near.from = at
		w = newWindow(near)
	}
	if isMarked {
		s.oldMarks, s.nowMarks = newMarkers(near.own(), w.texts[0].start, w.texts[1].start)
	}
	w.write(s)
	s.w.Flush() // a strings.Builder takes everything
	return out.String()
}

// A stretch is a part of the edits between two texts: edits[from:to].
type stretch struct {
	texts    [2][]byte // old and now
	edits    []Edit
	from, to int
}

// around returns the edits whose contexts meet, directly or through others, starting at one edit.
// It returns at most excerptEdits on each side.
func around(old, now []byte, edits []Edit, at int) stretch {
	s := stretch{[2][]byte{old, now}, edits, at, at + 1}
	for s.from > 0 && at-s.from < excerptEdits && s.meets(s.from) {
		s.from--
	}
	for s.to < len(edits) && s.to-at < excerptEdits && s.meets(s.to) {
		s.to++
	}
	return s
}

// own returns the changes of the excerpt's own edits.
func (s stretch) own() (changes []Change) {
	for _, e := range s.edits[s.first(s.from):s.to] {
		if e.By == "" {
			changes = append(changes, e.Change)
		}
	}
	return changes
}

// first returns the first edit that differs in the line in which edit i begins.
func (s stretch) first(i int) int {
	first := i
	for first > 0 && i-first < excerptEdits && s.sharesLine(first) {
		first--
	}
	return first
}

// gap returns the range between edit i and the one before it, in both texts. Its bytes are
// equal in both.
func (s stretch) gap(i int) (from, to [2]int) {
	to = [2]int{len(s.texts[0]), len(s.texts[1])}
	if i > 0 {
		from = [2]int{s.edits[i-1].OldTo, s.edits[i-1].NowTo}
	}
	if i < len(s.edits) {
		to = [2]int{s.edits[i].OldFrom, s.edits[i].NowFrom}
	}
	return from, to
}

// equal returns the whole lines within a gap.
func (s stretch) equal(i int) []byte {
	from, to := s.gap(i)
	gap := s.texts[0][from[0]:to[0]]
	if !s.areStarts(from) {
		gap = gap[plaintext.LineEnd(gap, 0):]
	}
	if i < len(s.edits) {
		gap = gap[:plaintext.LineStart(gap, len(gap))]
	}
	return gap
}

// meets reports whether the contexts of edit i and of the edit before it meet.
func (s stretch) meets(i int) bool { return plaintext.CountLines(s.equal(i)) <= 2*excerptContext }

// sharesLine reports whether edit i begins in a line in which the edit before it ends.
func (s stretch) sharesLine(i int) bool {
	from, to := s.gap(i)
	return plaintext.LineStart(s.texts[0], to[0]) < from[0] || plaintext.LineStart(s.texts[1], to[1]) < from[1]
}

// areStarts reports whether lines begin at a place in both texts.
func (s stretch) areStarts(at [2]int) bool {
	return plaintext.LineStart(s.texts[0], at[0]) == at[0] && plaintext.LineStart(s.texts[1], at[1]) == at[1]
}

// lines returns the range of the whole lines of edits [i, j), in both texts.
func (s stretch) lines(i, j int) (from, to [2]int) {
	_, from = s.gap(i)
	to, _ = s.gap(j)
	isWhole := s.areStarts(to)
	for t, text := range s.texts {
		from[t] = plaintext.LineStart(text, from[t])
		if !isWhole {
			to[t] = plaintext.LineEnd(text, to[t])
		}
	}
	return from, to
}

// A hunk is a group of changes whose contexts meet, with that context: lines [OldFrom, OldTo) and
// [NowFrom, NowTo).
type hunk struct {
	Change
	changes []Change
}

// hunks groups changes. oldLines is the number of lines of old.
func hunks(changes []Change, context, oldLines int) []hunk {
	var groups []hunk
	for _, c := range changes {
		n := len(groups)
		if n > 0 && c.OldFrom-groups[n-1].OldTo <= 2*context {
			h := &groups[n-1]
			h.OldTo, h.NowTo = c.OldTo, c.NowTo
			h.changes = append(h.changes, c)
			continue
		}
		groups = append(groups, hunk{c, []Change{c}})
	}
	for i := range groups {
		h := &groups[i]
		// Lines around a change are equal, so both sides have the same number.
		lead, trail := min(context, h.OldFrom), min(context, oldLines-h.OldTo)
		h.OldFrom, h.NowFrom = h.OldFrom-lead, h.NowFrom-lead
		h.OldTo, h.NowTo = h.OldTo+trail, h.NowTo+trail
	}
	return groups
}

// header returns the line that opens a hunk. oldBefore and nowBefore count the lines cut off at the
// start of the texts.
func (c Change) header(oldBefore, nowBefore int) string {
	return "@@ -" + lineRange(c.OldFrom, c.OldTo, oldBefore) + " +" + lineRange(c.NowFrom, c.NowTo, nowBefore) + " @@"
}

// size returns the number of lines of a change on both sides.
func (c Change) size() int { return c.OldTo - c.OldFrom + c.NowTo - c.NowFrom }

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

// An excerpt is the part of two texts in which they differ, cut at line boundaries, with a few
// equal lines around it. The rest is equal and need not be split into lines. So large texts with
// few changes are cheap.
type excerpt struct {
	old, now []byte
	before   int // lines left out before
	start    int // bytes left out before
}

func newExcerpt(old, now []byte, context int) excerpt {
	head := plaintext.CommonPrefix(old, now)
	if head == len(old) && head == len(now) {
		return excerpt{}
	}
	head = plaintext.LineStart(old, head)
	// The equal end begins within a line. Keep the text after the first newline.
	end := plaintext.LineEnd(old, len(old)-plaintext.CommonSuffix(old[head:], now[head:]))
	head, end = plaintext.Back(old, head, context), plaintext.Forth(old, end, context)
	return excerpt{
		old:    old[head:end],
		now:    now[head : len(now)-len(old)+end],
		before: bytes.Count(old[:head], []byte("\n")),
		start:  head,
	}
}

// changes returns the changes between both sides, in lines. Sides of very many lines have one change.
func (e excerpt) changes() []Change {
	old, now := plaintext.CountLines(e.old), plaintext.CountLines(e.now)
	if old+now > comparedLinesMax {
		return []Change{{0, old, 0, now}}
	}
	return compare(plaintext.SplitLines(e.old), plaintext.SplitLines(e.now))
}
