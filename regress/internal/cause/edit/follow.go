package edit

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// rewrapped is the pattern of line breaks that moved because the text before them changed.
const rewrapped = string(pattern.Space) + " lines are wrapped elsewhere"

// matchRewraps gives one pattern to line breaks that follow from edits of the same lines: where breaks
// went and others came, and where a line would be wider than any other without the break. So it does where
// text is filled to another width: breaks alone went and came between the same words. Other breaks that
// changed alone are what a formatter does, and keep their patterns.
func (t *text) matchRewraps() {
	if t.extents != nil {
		return
	}
	w := rewraps{text: t}
	for i := 0; i < len(t.places); i++ {
		if !w.isBreak(&t.places[i]) {
			continue
		}
		from, to := i, i+1
		for from > 0 && !w.keepsBreak(&t.places[from-1], &t.places[from]) {
			from--
		}
		for to < len(t.places) && !w.keepsBreak(&t.places[to-1], &t.places[to]) {
			to++
		}
		w.match(t.places[from:to])
		i = to - 1
	}
	for i := range t.places {
		if p := &t.places[i]; w.filled && w.isBreak(p) && w.isBesideSpace(p) && w.isTooWideAt(p, outliers) {
			p.Pattern = t.words.Add(rewrapped)
		}
	}
}

type rewraps struct {
	*text
	filled bool     // the text is filled to another width
	widths [2][]int // of the lines of the old and the new text, in columns, sorted; nil = unknown
}

// keepsBreak reports whether a line ends in the same way on both sides between two edits.
func (w *rewraps) keepsBreak(a, b *Place) bool {
	return bytes.IndexByte(w.old[a.Old.To:b.Old.From], '\n') >= 0 || a.isLong(w.text) || b.isLong(w.text)
}

// isLong reports whether an edit goes over a line's end on both sides.
func (p *Place) isLong(t *text) bool {
	return bytes.IndexByte(t.old[p.Old.From:p.Old.To], '\n') >= 0 && bytes.IndexByte(t.now[p.Now.From:p.Now.To], '\n') >= 0
}

// match gives the pattern to edits between two line ends that stayed.
func (w *rewraps) match(edits []Place) {
	removed, added, pure, changed, wide := 0, 0, true, false, false
	for i := range edits {
		old, now := w.sides(&edits[i])
		pure = pure && w.isBreak(&edits[i])
		isLine := startsWithNewline(old) || startsWithNewline(now) // lines that came or went beside others
		changed = changed || !isLine && (bytes.ContainsFunc(old, isWordRune) || bytes.ContainsFunc(now, isWordRune))
		switch x, y := bytes.Count(old, newline), bytes.Count(now, newline); {
		case x > y:
			removed++
		case x < y:
			added++
		}
		wide = wide || w.isTooWideAt(&edits[i], outliers)
	}
	if removed+added == 0 {
		return
	}
	all := removed*added > 0 && wide
	w.filled = w.filled || all && pure
	for i := range edits {
		p := &edits[i]
		if w.isBreak(p) && (changed && (all || w.isTooWideAt(p, 0)) || pure && all && w.isBesideSpace(p)) {
			p.Pattern = w.words.Add(rewrapped)
		}
	}
}

// isBesideSpace reports whether a break stands where the other side has a space, as between words.
func (w *rewraps) isBesideSpace(p *Place) bool {
	old, now := w.sides(p)
	return len(old) > 0 && len(now) > 0
}

// outliers is the share of lines that may exceed the tool's width, because they have no place for a break.
const outliers = 0.1

// isBreak reports whether an edit adds or removes one line break and nothing but spaces.
func (w *rewraps) isBreak(p *Place) bool {
	old, now := w.sides(p)
	if len(old) > 0 && !token.IsSpace(old[0]) || len(now) > 0 && !token.IsSpace(now[0]) {
		return false
	}
	return len(bytes.TrimSpace(old))+len(bytes.TrimSpace(now)) == 0 && bytes.Count(old, newline)+bytes.Count(now, newline) == 1
}

func (w *rewraps) isTooWideAt(p *Place, but float64) bool {
	old, now := w.sides(p)
	switch {
	case !w.isBreak(p):
		return false
	case bytes.IndexByte(old, '\n') >= 0:
		return w.isTooWide(0, p.Old, len(now), but)
	}
	return w.isTooWide(1, p.Now, len(old), but)
}

// isWordRune reports whether a character is part of a word or a number. Brackets and other signs that
// come with line breaks are the work of a formatter too.
func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (w *rewraps) sides(p *Place) (old, now []byte) {
	return w.old[p.Old.From:p.Old.To], w.now[p.Now.From:p.Now.To]
}

// isTooWide reports whether the lines beside a break are wider than other lines of their side if spaces
// replace it: than all but a share of them.
func (w *rewraps) isTooWide(side int, gap Span, spaces int, but float64) bool {
	text := w.around[side].text
	if w.widths[side] == nil {
		for line := range bytes.Lines(text) {
			w.widths[side] = append(w.widths[side], max(wrapMin, columns(bytes.TrimRight(line, "\r\n"))))
		}
		slices.Sort(w.widths[side])
	}
	before := text[bytes.LastIndexByte(text[:gap.From], '\n')+1 : gap.From]
	behind, _, _ := bytes.Cut(text[gap.To:], newline)
	behind = bytes.TrimRight(behind, "\r")
	widths := w.widths[side]
	return columns(before)+spaces+columns(behind) > widths[len(widths)-1-int(but*float64(len(widths)-1))]
}

// wrapMin is the fewest columns at which a tool is taken to wrap lines.
const wrapMin = 40

// columns returns the width of a line, with a tab stop every 8 columns.
func columns(line []byte) (n int) {
	for _, c := range line {
		switch {
		case c == '\t':
			n += 8 - n%8
		case c&0xc0 != 0x80: // not the rest of a character
			n++
		}
	}
	return n
}

// A numbering is how a text numbers the names of one stem, such as io___1, io___2. Its weights are
// the numbers of places where one number stands on the old side and another, or the same, on the new.
type numbering struct {
	weight map[shift]int
	places map[shift][]int // those of edits
}

// A shift is a number of a name on the old side and the one that it has on the new side.
type shift struct{ old, now int }

// matchRenumbered gives one pattern to the numbers of generated names that shifted as if one of the names
// came or went: at least two in a row, in the order that they had. A lone wrong number is none of them,
// nor is a number that is no part of a name: a wrong constant stays a cause of its own.
func (t *text) matchRenumbered() {
	if t.extents != nil {
		return
	}
	all := t.numberings()
	if len(all) == 0 {
		return
	}
	t.countKept(all)
	for stem, n := range all {
		if len(n.weight) > shiftsMax {
			continue
		}
		renumbered := int32(-1)
		for _, p := range shiftsInRow(heaviestChain(n.weight)) {
			if renumbered < 0 {
				renumbered = t.words.Add(pattern.Renumber.Key(stem))
			}
			for _, i := range n.places[p] {
				t.places[i].Pattern, t.places[i].Cut = renumbered, -1
			}
		}
	}
}

// shiftsMax bounds the pairs of numbers of one stem: the chain of hostile ones takes time by their square.
const shiftsMax = 10_000

// shiftsInRow returns the shifts of a chain that have another beside them, by the same amount or by one
// more or less: each name that comes or goes shifts those behind it by one more.
func shiftsInRow(chain []shift) (all []shift) {
	for i, p := range chain {
		for _, k := range [...]int{i - 1, i + 1} {
			if k < 0 || k == len(chain) || p.by() == 0 || chain[k].by() == 0 {
				continue
			}
			if abs(p.by()-chain[k].by()) <= 1 {
				all = append(all, p)
				break
			}
		}
	}
	return all
}

func (s shift) by() int { return s.now - s.old }

// numberings returns the numberings that have edits, by stem.
func (t *text) numberings() map[string]numbering {
	all := map[string]numbering{}
	for i := range t.places {
		p := &t.places[i]
		old, ok := numberAt(t.old, p.Old)
		now, isNumber := numberAt(t.now, p.Now)
		if !ok || !isNumber {
			continue
		}
		stem := stemBefore(t.old, p.Old.From)
		if stem == "" || stem != stemBefore(t.now, p.Now.From) {
			continue
		}
		n, known := all[stem]
		if !known {
			n = numbering{map[shift]int{}, map[shift][]int{}}
			all[stem] = n
		}
		k := shift{old, now}
		n.weight[k]++
		n.places[k] = append(n.places[k], i)
	}
	return all
}

// numberAt returns the whole number that a span is.
func numberAt(text []byte, at Span) (int, bool) {
	if at.To == at.From || at.To-at.From > 9 || token.DigitsEnd(text, at.From, len(text)) != at.To {
		return 0, false
	}
	n, err := strconv.Atoi(string(text[at.From:at.To]))
	return n, err == nil
}

// stemBefore returns the letters that a number follows, or "".
func stemBefore(text []byte, at int) string {
	from := at
	for from > 0 && token.IsLetter(text[from-1]) {
		r, size := utf8.DecodeLastRune(text[:from])
		if token.IsMark(r) {
			break
		}
		if from -= size; at-from > wordMax {
			return ""
		}
	}
	return string(text[from:at])
}

// countKept adds the places where the numbers of names stayed the same.
func (t *text) countKept(all map[string]numbering) {
	next := 0
	for at := 0; at < len(t.old); {
		if !token.IsDigit(t.old[at]) {
			at++
			continue
		}
		number := Span{at, token.DigitsEnd(t.old, at, len(t.old))}
		at = number.To
		for next < len(t.places) && t.places[next].Old.To <= number.From {
			next++
		}
		if next < len(t.places) && t.places[next].Old.From < number.To {
			continue
		}
		if n, ok := numberAt(t.old, number); ok {
			if of, known := all[stemBefore(t.old, number.From)]; known {
				of.weight[shift{n, n}]++
			}
		}
	}
}

// heaviestChain returns the heaviest sequence of pairs in which the old and the new numbers both rise. Of
// those with the same weight it prefers one with more shifts.
func heaviestChain(weight map[shift]int) (chain []shift) {
	list := slices.SortedFunc(maps.Keys(weight), func(x, y shift) int { return cmp.Or(cmp.Compare(x.old, y.old), cmp.Compare(y.now, x.now)) })
	type link struct{ weight, before int }
	links := make([]link, len(list))
	// best has the heaviest links by their new number: both rise.
	type top struct{ now, at int }
	var best []top
	for i, p := range list {
		w := (len(list) + 1) * weight[p]
		if p.by() != 0 {
			w++
		}
		k, _ := slices.BinarySearchFunc(best, p.now, func(t top, now int) int { return cmp.Compare(t.now, now) })
		links[i] = link{w, -1}
		if k > 0 {
			links[i] = link{w + links[best[k-1].at].weight, best[k-1].at}
		}
		end := k
		for end < len(best) && links[best[end].at].weight <= links[i].weight {
			end++
		}
		if end > k || k == len(best) || best[k].now > p.now {
			best = slices.Replace(best, k, end, top{p.now, i})
		}
	}
	if len(best) == 0 {
		return nil
	}
	for i := best[len(best)-1].at; i >= 0; i = links[i].before {
		chain = append(chain, list[i])
	}
	return chain
}

// movedMin is the number of elements of a move. Fewer elements may vanish here and appear there by
// chance.
const movedMin = 3

// matchMoves gives one pattern to tokens that vanished from some places of a text and appear at as
// many others. The neighbours of those places do not matter.
func (t *text) matchMoves() {
	at := map[int32][]int{}
	for i := range t.places {
		at[t.places[i].Pattern] = append(at[t.places[i].Pattern], i)
	}
	for _, o := range t.opposites(at) {
		gone, come := at[o.gone], at[o.come]
		if len(gone) != len(come) || !t.areAll(o.gone, gone) || !t.areAll(o.come, come) || !t.sameTexts(gone, come) {
			continue
		}
		m := t.words.Add(pattern.Move.Key(o.side + "\t" + o.side))
		at := t.words.Spaces[o.gone].Old
		t.words.SetSpaces(m, pattern.Spaces{Old: at, Now: at})
		both := slices.Concat(gone, come)
		slices.Sort(both)
		for _, i := range both {
			t.places[i].Pattern, t.places[i].Cut = m, -1
			if t.extents != nil {
				t.countEdit(t.places[i])
			}
		}
	}
}

// areAll reports whether these are all edits of a pattern. Beyond editsMax, edits are not kept.
func (t *text) areAll(pattern int32, edits []int) bool {
	return t.extents == nil || int(t.extents[pattern].edits) == len(edits)
}

// An opposite is a pair of patterns: one removes what the other adds.
type opposite struct {
	side       string
	gone, come int32
}

// opposites returns the opposites among the patterns of a text, in order.
func (t *text) opposites(at map[int32][]int) (found []opposite) {
	for gone := range at {
		side, isEdit := strings.CutPrefix(t.words.List[gone], pattern.Edit.Key(""))
		side, isGone := strings.CutSuffix(side, "\t")
		if !isEdit || !isGone || strings.Count(side, " ") < movedMin-1 || !strings.Contains(" "+side, " w") {
			continue
		}
		if come, known := t.words.numbers[pattern.Edit.Key("\t"+side)]; known && len(at[come]) > 0 {
			found = append(found, opposite{side, gone, come})
		}
	}
	slices.SortFunc(found, func(x, y opposite) int { return int(x.gone) - int(y.gone) })
	return found
}

// sameTexts reports whether the removed texts equal the added ones, pair by pair.
func (t *text) sameTexts(gone, come []int) bool {
	for i := range gone {
		x, y := t.places[gone[i]].Old, t.places[come[i]].Now
		if !bytes.Equal(bytes.TrimSpace(t.old[x.From:x.To]), bytes.TrimSpace(t.now[y.From:y.To])) {
			return false
		}
	}
	return true
}
