package diff

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/regress/internal/readable"
)

// A Change is one place in which two contents differ: ranges of bytes.
type Change struct{ OldFrom, OldTo, NowFrom, NowTo int }

// An Edit is a change, and whose it is.
type Edit struct {
	Change
	By string // "" = of those that an excerpt is about
}

// Bounds of an excerpt.
const (
	excerptLines   = 14
	excerptContext = 2
	excerptColumns = 160
	excerptEdits   = 500 // on each side of the one that is shown
)

// Excerpt shows an edit as a hunk of a unified diff. edits are all in which both texts differ,
// in order and apart; at is the index of the one to show.
//
// Lines in which only edits of others differ have the signs < and >. A remark names the others,
// and counts what has no room. Excerpt returns nothing if an edit is not within both contents,
// or one of them is no text.
func Excerpt(old, now []byte, edits []Edit, at int) string {
	isOutside := func(e Edit) bool {
		return e.OldFrom > e.OldTo || e.OldTo > len(old) || e.NowFrom > e.NowTo || e.NowTo > len(now)
	}
	if slices.ContainsFunc(edits, isOutside) || isBinary(old) || isBinary(now) {
		return ""
	}
	edits = around(old, now, edits, at)
	out := &strings.Builder{}
	s := newSheet(out, excerptLines, excerptColumns, false)
	newWindow(old, now, edits).write(s)
	s.w.Flush() // a strings.Builder takes everything
	return out.String()
}

// around returns the edits that stand so close to one that their contexts meet.
func around(old, now []byte, edits []Edit, at int) []Edit {
	meet := func(a, b Edit) bool {
		return a.NowTo > LineStart(now, b.NowFrom) || a.NowTo == b.NowFrom ||
			bytes.Count(old[a.OldTo:b.OldFrom], []byte("\n")) <= 2*excerptContext+1
	}
	lo, hi := at, at+1
	for lo > 0 && at-lo < excerptEdits && meet(edits[lo-1], edits[lo]) {
		lo--
	}
	for hi < len(edits) && hi-at < excerptEdits && meet(edits[hi-1], edits[hi]) {
		hi++
	}
	return edits[lo:hi]
}

// A window is the lines of both texts, old and now, around some edits.
type window struct {
	texts [2]windowText
	// others are those who differ in lines with the signs < and >, and in lines with - and +.
	others [2]map[string]bool
}

type windowText struct {
	before int // lines of the text before the window
	lines  []string
	ends   []int      // in bytes of the text
	by     [][]string // whose edits differ in a line, by line
}

func newWindow(old, now []byte, edits []Edit) *window {
	first, last := edits[0], edits[len(edits)-1]
	from := [2]int{LineStart(old, first.OldFrom), LineStart(now, first.NowFrom)}
	to := [2]int{last.OldTo, last.NowTo}
	if to[0] != LineStart(old, to[0]) || to[1] != LineStart(now, to[1]) {
		to = [2]int{LineEnd(old, to[0]), LineEnd(now, to[1])}
	}
	w := &window{others: [2]map[string]bool{{}, {}}}
	lead, trail := bytesOf(linesBefore(old[:from[0]], excerptContext)), bytesOf(linesAfter(old[to[0]:], excerptContext))
	for i, text := range [2][]byte{old, now} {
		t := &w.texts[i]
		start := max(0, from[i]-lead)
		t.before, t.lines = CountLines(text[:start]), splitLines(text[start:min(len(text), to[i]+trail)])
		for _, line := range t.lines {
			start += len(line)
			t.ends = append(t.ends, start)
		}
		t.by = make([][]string, len(t.lines))
	}
	for _, e := range edits {
		w.texts[0].note(e.By, e.OldFrom, e.OldTo)
		w.texts[1].note(e.By, e.NowFrom, e.NowTo)
	}
	return w
}

// note notes whose edit differs in the lines of a range of bytes. An empty range between two
// lines is in neither.
func (t *windowText) note(by string, from, to int) {
	for i, end := range t.ends {
		start := end - len(t.lines[i])
		if start < to && from < end || from == to && start < from && from < end {
			t.by[i] = append(t.by[i], by)
		}
	}
}

// write writes the hunks in which the edits differ that the window is about.
func (w *window) write(s *sheet) {
	left := 0
	for _, h := range hunks(compareLines(w.texts[0].lines, w.texts[1].lines), excerptContext, len(w.texts[0].lines)) {
		if slices.ContainsFunc(h.changes, w.isOwn) {
			left += w.hunk(s, h)
		}
	}
	if left > 0 {
		s.remark("%s", readable.Count(left, "more line"))
	}
	w.legend(s)
}

// isOwn reports whether an edit that the window is about differs in the lines of a change. A
// line diff may put equal lines elsewhere than the edits do: lines in which no edit differs are
// own.
func (w *window) isOwn(c change) bool {
	isOwn := func(by []string) bool { return len(by) == 0 || slices.Contains(by, "") }
	return slices.ContainsFunc(w.texts[0].by[c.oldFrom:c.oldTo], isOwn) || slices.ContainsFunc(w.texts[1].by[c.nowFrom:c.nowTo], isOwn)
}

// hunk writes a hunk and returns how many of its changed lines have no room. If not all have
// room, it begins with the first own change.
func (w *window) hunk(s *sheet, h hunk) (left int) {
	for len(h.changes) > 1 && h.rows(w.texts[0].lines, w.texts[1].lines) > s.room+1 && !w.isOwn(h.changes[0]) {
		left += h.changes[0].size()
		skipped := h.changes[0]
		h.changes = h.changes[1:]
		equal := h.changes[0].oldFrom - skipped.oldTo
		lead := min(equal, excerptContext)
		h.oldFrom, h.nowFrom = h.changes[0].oldFrom-lead, h.changes[0].nowFrom-lead
	}
	if s.room > 0 {
		fmt.Fprintln(s.w, "@@ -"+lineRange(h.oldFrom, h.oldTo, w.texts[0].before)+" +"+lineRange(h.nowFrom, h.nowTo, w.texts[1].before)+" @@")
	}
	at := h.oldFrom
	for _, c := range h.changes {
		s.context(w.texts[0].lines[at:c.oldFrom])
		if at = c.oldTo; s.room == 0 {
			left += c.size()
			continue
		}
		old, now := pairs(w.texts[0].lines[c.oldFrom:c.oldTo], w.texts[1].lines[c.nowFrom:c.nowTo], s.columns)
		own := w.isOwn(c)
		w.sign(old, w.texts[0].by[c.oldFrom:c.oldTo], '<', own)
		w.sign(now, w.texts[1].by[c.nowFrom:c.nowTo], '>', own)
		s.block(old, now)
	}
	s.context(w.texts[0].lines[at:h.oldTo])
	return left
}

// sign gives the rows in which only edits of others differ their sign.
func (w *window) sign(rows []row, by [][]string, sign byte, isOwn bool) {
	for i := range rows {
		kind := 1
		if !isOwn || len(by[i]) > 0 && !slices.Contains(by[i], "") {
			rows[i].sign, kind = sign, 0
		}
		for _, other := range by[i] {
			w.others[kind][other] = true
		}
	}
}

// legend names the others.
func (w *window) legend(s *sheet) {
	delete(w.others[1], "")
	for i, text := range [2]string{"< and > mark lines of %s", "words of these lines differ by %s, too"} {
		if len(w.others[i]) > 0 {
			s.remark(text, strings.Join(slices.Sorted(maps.Keys(w.others[i])), ", "))
		}
	}
}

// LineStart returns where the line that at is in begins.
func LineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// LineEnd returns where the line that at is in ends, its newline included.
func LineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// linesBefore returns the last n lines of a text that ends with a newline.
func linesBefore(text []byte, n int) []string {
	from := len(text)
	for ; n > 0 && from > 0; n-- {
		from = LineStart(text, from-1)
	}
	return splitLines(text[from:])
}

func linesAfter(text []byte, n int) []string {
	to := 0
	for ; n > 0 && to < len(text); n-- {
		to = LineEnd(text, to)
	}
	return splitLines(text[:to])
}
