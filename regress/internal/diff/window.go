package diff

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/plaintext"
)

// A window holds the lines of both texts, old and now, around some edits.
type window struct {
	texts   [2]windowText
	changes []Change // of lines
	// others are the owners of other edits: in lines with the signs < and >, and in lines with -
	// and +.
	others [2]map[string]bool
}

type windowText struct {
	before int // lines of the text before the window
	start  int // bytes of the text before the window
	lines  []string
	ends   []int      // in bytes of the text
	by     [][]string // owners of the edits in each line
}

func newWindow(s stretch) *window {
	w := &window{others: [2]map[string]bool{{}, {}}}
	before, after := s.equal(s.from), s.equal(s.to)
	lead, trail := len(before)-plaintext.Back(before, len(before), excerptContext), plaintext.Forth(after, 0, excerptContext)
	from, to := s.lines(s.from, s.to)
	for i, text := range s.texts {
		t := &w.texts[i]
		start := from[i] - lead
		t.start = start
		t.before, t.lines = plaintext.CountLines(text[:start]), plaintext.SplitLines(text[start:to[i]+trail])
		for _, line := range t.lines {
			start += len(line)
			t.ends = append(t.ends, start)
		}
		t.by = make([][]string, len(t.lines))
	}
	for _, e := range s.edits[s.first(s.from):s.from] {
		w.recordOwner(s, e)
	}
	for i, j := s.from, s.from; i < s.to; i = j {
		for j++; j < s.to && len(s.equal(j)) == 0; j++ {
		}
		w.compare(s, i, j)
	}
	return w
}

// compare compares the lines of edits [i, j), which have no equal line between them.
func (w *window) compare(s stretch, i, j int) {
	from, to := s.lines(i, j)
	var all []string // the owners of the edits
	for _, e := range s.edits[i:j] {
		w.recordOwner(s, e)
		if !slices.Contains(all, e.By) {
			all = append(all, e.By)
		}
	}
	var at [2][2]int
	for t := range w.texts {
		at[t] = w.texts[t].between(from[t], to[t], all)
	}
	for _, c := range compare(w.texts[0].lines[at[0][0]:at[0][1]], w.texts[1].lines[at[1][0]:at[1][1]]) {
		w.changes = append(w.changes, Change{at[0][0] + c.OldFrom, at[0][0] + c.OldTo, at[1][0] + c.NowFrom, at[1][0] + c.NowTo})
	}
}

// recordOwner records the owner of an edit for its lines in both texts.
func (w *window) recordOwner(s stretch, e Edit) {
	isEnd := e.OldTo == len(s.texts[0]) && e.NowTo == len(s.texts[1])
	isWhole := s.areStarts([2]int{e.OldFrom, e.NowFrom}) && (isEnd || s.areStarts([2]int{e.OldTo, e.NowTo}))
	w.texts[0].recordOwner(e.By, [2]int{e.OldFrom, e.OldTo}, isWhole)
	w.texts[1].recordOwner(e.By, [2]int{e.NowFrom, e.NowTo}, isWhole)
}

// index returns the line that contains a byte.
func (t *windowText) index(at int) int { return sort.SearchInts(t.ends, at+1) }

// recordOwner records the owner of an edit for the lines of a range of bytes. If the edit consists of
// whole lines, an empty range has no line.
func (t *windowText) recordOwner(by string, at [2]int, isWhole bool) {
	if len(t.ends) == 0 {
		return
	}
	if start := t.ends[0] - len(t.lines[0]); at[1] < start || at[1] == start && at[0] < start {
		return // before the window
	}
	from, to := t.index(at[0]), t.index(at[1]-1)
	if at[0] == at[1] {
		if isWhole {
			return
		}
		from = min(from, len(t.lines)-1) // the end of a text without a final newline
		to = from
	}
	for i := max(0, from); i <= min(to, len(t.lines)-1); i++ {
		if !slices.Contains(t.by[i], by) {
			t.by[i] = append(t.by[i], by)
		}
	}
}

// between returns the owners of the lines of a range of bytes. A line without an edit gets all: a
// line diff may put equal lines elsewhere than the edits do.
func (t *windowText) between(from, to int, all []string) [2]int {
	at := [2]int{t.index(from), t.index(to)}
	for i := at[0]; i < at[1]; i++ {
		if len(t.by[i]) == 0 {
			t.by[i] = all
		}
	}
	return at
}

// hunks returns the hunks in which the window's own edits differ.
func (w *window) hunks() []hunk {
	all := hunks(w.changes, excerptContext, len(w.texts[0].lines))
	return slices.DeleteFunc(all, func(h hunk) bool { return !slices.ContainsFunc(h.changes, w.isOwn) })
}

// rows counts the lines of the hunks, without their headings.
func (w *window) rows() (count int) {
	for _, h := range w.hunks() {
		count += h.rows(w.texts[0].lines, w.texts[1].lines) - 1
	}
	return count
}

func (w *window) write(s *sheet) {
	left := 0
	for _, h := range w.hunks() {
		left += w.writeHunk(s, h)
	}
	if left > 0 {
		s.writeRemark("%s", readable.Count(left, "more line"))
	}
	w.writeLegend(s)
}

// isOwn reports whether an own edit of the window differs in the lines of a change.
func (w *window) isOwn(c Change) bool {
	isOwn := func(by []string) bool { return slices.Contains(by, "") }
	return slices.ContainsFunc(w.texts[0].by[c.OldFrom:c.OldTo], isOwn) || slices.ContainsFunc(w.texts[1].by[c.NowFrom:c.NowTo], isOwn)
}

// writeHunk writes a hunk and returns the number of its changed lines without room.
func (w *window) writeHunk(s *sheet, h hunk) (left int) {
	if s.room > 0 {
		fmt.Fprintln(s.w, s.paint(h.header(w.texts[0].before, w.texts[1].before)))
	}
	at := h.OldFrom
	for _, c := range h.changes {
		s.writeContext(w.texts[0].lines[at:c.OldFrom])
		if at = c.OldTo; s.room == 0 {
			left += c.size()
			continue
		}
		old, now := rowPairs(w.texts[0].lines[c.OldFrom:c.OldTo], w.texts[1].lines[c.NowFrom:c.NowTo], s.columns)
		s.oldMarks.mark(old, w.texts[0].lines, c.OldFrom)
		s.nowMarks.mark(now, w.texts[1].lines, c.NowFrom)
		w.signRows(old, w.texts[0].by[c.OldFrom:c.OldTo], '<')
		w.signRows(now, w.texts[1].by[c.NowFrom:c.NowTo], '>')
		s.writeBlock(old, now)
	}
	s.writeContext(w.texts[0].lines[at:h.OldTo])
	return left
}

// signRows marks the rows in which only edits of others differ.
func (w *window) signRows(rows []row, by [][]string, sign byte) {
	for i := range rows {
		kind := 1
		if !slices.Contains(by[i], "") {
			rows[i].sign, kind = sign, 0
		}
		for _, other := range by[i] {
			w.others[kind][other] = true
		}
	}
}

// writeLegend names the others.
func (w *window) writeLegend(s *sheet) {
	delete(w.others[1], "")
	for i, text := range [2]string{"< and > mark lines of %s", "words of these lines differ by %s, too"} {
		if len(w.others[i]) > 0 {
			s.writeRemark(text, strings.Join(slices.Sorted(maps.Keys(w.others[i])), ", "))
		}
	}
}
