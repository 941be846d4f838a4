package diff

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"muster/regress/internal/readable"
)

// A window is the lines of both texts, old and now, around some edits.
type window struct {
	texts   [2]windowText
	changes []change // of lines
	// others are those who differ in lines with the signs < and >, and in lines with - and +.
	others [2]map[string]bool
}

type windowText struct {
	before int // lines of the text before the window
	start  int // bytes of the text before the window
	lines  []string
	ends   []int      // in bytes of the text
	by     [][]string // whose edits differ in a line, by line
}

func newWindow(s stretch) *window {
	w := &window{others: [2]map[string]bool{{}, {}}}
	lead, trail := bytesOf(linesBefore(s.equal(s.from), excerptContext)), bytesOf(linesAfter(s.equal(s.to), excerptContext))
	from, to := s.lines(s.from, s.to)
	for i, text := range s.texts {
		t := &w.texts[i]
		start := from[i] - lead
		t.start = start
		t.before, t.lines = CountLines(text[:start]), splitLines(text[start:to[i]+trail])
		for _, line := range t.lines {
			start += len(line)
			t.ends = append(t.ends, start)
		}
		t.by = make([][]string, len(t.lines))
	}
	for _, e := range s.edits[s.first(s.from):s.from] {
		w.note(s, e)
	}
	for i, j := s.from, s.from; i < s.to; i = j {
		for j++; j < s.to && len(s.equal(j)) == 0; j++ {
		}
		w.compare(s, i, j)
	}
	return w
}

// compare compares the lines of edits [i, j), between which no line is equal.
func (w *window) compare(s stretch, i, j int) {
	from, to := s.lines(i, j)
	var all []string // whose the edits are
	for _, e := range s.edits[i:j] {
		w.note(s, e)
		if !slices.Contains(all, e.By) {
			all = append(all, e.By)
		}
	}
	var at [2][2]int
	for t := range w.texts {
		at[t] = w.texts[t].between(from[t], to[t], all)
	}
	for _, c := range compareLines(w.texts[0].lines[at[0][0]:at[0][1]], w.texts[1].lines[at[1][0]:at[1][1]]) {
		w.changes = append(w.changes, change{at[0][0] + c.oldFrom, at[0][0] + c.oldTo, at[1][0] + c.nowFrom, at[1][0] + c.nowTo})
	}
}

// note notes whose edit differs in lines of both texts.
func (w *window) note(s stretch, e Edit) {
	isEnd := e.OldTo == len(s.texts[0]) && e.NowTo == len(s.texts[1])
	isWhole := s.areStarts([2]int{e.OldFrom, e.NowFrom}) && (isEnd || s.areStarts([2]int{e.OldTo, e.NowTo}))
	w.texts[0].note(e.By, [2]int{e.OldFrom, e.OldTo}, isWhole)
	w.texts[1].note(e.By, [2]int{e.NowFrom, e.NowTo}, isWhole)
}

// index returns the line in which a byte is.
func (t *windowText) index(at int) int { return sort.SearchInts(t.ends, at+1) }

// note notes whose edit differs in the lines of a range of bytes. If the edit is of whole
// lines, an empty range is in none.
func (t *windowText) note(by string, at [2]int, isWhole bool) {
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
		from = min(from, len(t.lines)-1) // the end of a text without a line end
		to = from
	}
	for i := max(0, from); i <= min(to, len(t.lines)-1); i++ {
		if !slices.Contains(t.by[i], by) {
			t.by[i] = append(t.by[i], by)
		}
	}
}

// between returns the lines of a range of bytes. Those in which no edit differs get all: a line
// diff may put equal lines elsewhere than the edits do.
func (t *windowText) between(from, to int, all []string) [2]int {
	at := [2]int{t.index(from), t.index(to)}
	for i := at[0]; i < at[1]; i++ {
		if len(t.by[i]) == 0 {
			t.by[i] = all
		}
	}
	return at
}

// hunks returns the hunks in which the edits differ that the window is about.
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
		left += w.hunk(s, h)
	}
	if left > 0 {
		s.remark("%s", readable.Count(left, "more line"))
	}
	w.legend(s)
}

// isOwn reports whether an edit that the window is about differs in the lines of a change.
func (w *window) isOwn(c change) bool {
	isOwn := func(by []string) bool { return slices.Contains(by, "") }
	return slices.ContainsFunc(w.texts[0].by[c.oldFrom:c.oldTo], isOwn) || slices.ContainsFunc(w.texts[1].by[c.nowFrom:c.nowTo], isOwn)
}

// hunk writes a hunk and returns how many of its changed lines have no room.
func (w *window) hunk(s *sheet, h hunk) (left int) {
	if s.room > 0 {
		fmt.Fprintln(s.w, s.paint("@@ -"+lineRange(h.oldFrom, h.oldTo, w.texts[0].before)+" +"+lineRange(h.nowFrom, h.nowTo, w.texts[1].before)+" @@"))
	}
	at := h.oldFrom
	for _, c := range h.changes {
		s.context(w.texts[0].lines[at:c.oldFrom])
		if at = c.oldTo; s.room == 0 {
			left += c.size()
			continue
		}
		old, now := pairs(w.texts[0].lines[c.oldFrom:c.oldTo], w.texts[1].lines[c.nowFrom:c.nowTo], s.columns)
		s.oldMarks.mark(old, w.texts[0].lines, c.oldFrom)
		s.nowMarks.mark(now, w.texts[1].lines, c.nowFrom)
		w.sign(old, w.texts[0].by[c.oldFrom:c.oldTo], '<')
		w.sign(now, w.texts[1].by[c.nowFrom:c.nowTo], '>')
		s.block(old, now)
	}
	s.context(w.texts[0].lines[at:h.oldTo])
	return left
}

// sign gives the rows in which only edits of others differ their sign.
func (w *window) sign(rows []row, by [][]string, sign byte) {
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

// legend names the others.
func (w *window) legend(s *sheet) {
	delete(w.others[1], "")
	for i, text := range [2]string{"< and > mark lines of %s", "words of these lines differ by %s, too"} {
		if len(w.others[i]) > 0 {
			s.remark(text, strings.Join(slices.Sorted(maps.Keys(w.others[i])), ", "))
		}
	}
}
