package review

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/internal/readable"
	"muster/regress/internal/cause"
	"muster/regress/internal/diff"
)

// Changes is what a commit would write.
type Changes struct {
	// Accepted or Rejected by ID, or Undecided to remove a decision.
	Decisions map[string]State
	// The written decisions on these IDs when this reviewer last read them.
	Before map[string]State
	// Names of the cases whose items are all accepted, and that are not in the golden.
	Promote []string
	// The number of such cases if the golden could be written.
	Barred int
	// The number of cases that stay in the golden although one of their items is no longer
	// accepted: removing a decision does not undo a promotion.
	Stay int
}

// Empty reports whether there is nothing to write.
func (c Changes) Empty() bool { return len(c.Decisions) == 0 && len(c.Promote) == 0 }

// IDs returns the IDs of the decisions, in order.
func (c Changes) IDs() []string { return slices.SortedFunc(maps.Keys(c.Decisions), ByID) }

// Changes returns what a commit would write now.
func (r *Review) Changes() Changes {
	c := Changes{Decisions: map[string]State{}, Before: map[string]State{}}
	for item := range r.mine {
		if r.Pending(item) {
			id := r.items[item].ID
			c.Decisions[id] = written(r.mine[item])
			c.Before[id] = r.base[id]
		}
	}
	for i := range r.cases {
		switch {
		case r.Promotable(i) && r.shut != "":
			c.Barred++
		case r.Promotable(i):
			c.Promote = append(c.Promote, r.cases[i].Name)
		case r.cases[i].Promoted && slices.ContainsFunc(r.cases[i].Items, r.takenBack):
			c.Stay++
		}
	}
	return c
}

// takenBack reports whether a commit would remove the acceptance of an item.
func (r *Review) takenBack(item int) bool {
	return r.Pending(item) && r.base[r.items[item].ID] == Accepted
}

// A Conflict is a decision that another reviewer made differently in the meantime.
type Conflict struct {
	ID           string
	Mine, Theirs State
}

// Merge adds changes to the decisions that are written now. If another reviewer has since
// decided differently on an item, Merge returns a conflict, and nothing may be written. It
// keeps decisions that this reviewer did not change.
func Merge(c Changes, theirs map[string]State) (merged map[string]State, conflicts []Conflict) {
	merged = decisions(theirs)
	for _, id := range c.IDs() {
		mine, was, is := c.Decisions[id], c.Before[id], merged[id]
		if is != was && is != mine {
			conflicts = append(conflicts, Conflict{id, mine, is})
		}
		if mine == Undecided {
			delete(merged, id)
		} else {
			merged[id] = mine
		}
	}
	return merged, conflicts
}

// Rebase updates the review with the decisions that are written now, and with the cases that
// are in the golden. Pending decisions stay pending. Those that contradict a written decision
// become contested: a later commit overwrites the other decision. Rebase returns the items that
// were not contested before.
func (r *Review) Rebase(theirs map[string]State, promoted func(name string) bool) (fresh []Conflict) {
	now := decisions(theirs)
	for item := range r.items {
		id := r.items[item].ID
		switch {
		case now[id] == r.base[id]:
		case r.Pending(item) && written(r.mine[item]) != now[id]:
			r.contested[item] = true
			fresh = append(fresh, Conflict{id, written(r.mine[item]), now[id]})
		default:
			delete(r.contested, item)
		}
	}
	r.base = now
	for i := range r.cases {
		r.cases[i].Promoted = promoted(r.cases[i].Name)
	}
	return fresh
}

// Shut returns the reason why no case can go into the golden, or "" if cases can.
func (r *Review) Shut() string { return r.shut }

// Contested reports whether the pending decision on an item would overwrite a decision that
// another reviewer made since this review began, and returns that decision.
func (r *Review) Contested(item int) (theirs State, yes bool) {
	return r.base[r.items[item].ID], r.contested[item] && r.Pending(item)
}

// committed records that all pending decisions were written, together with those of others.
// Skipped items stay skipped. Nothing can be undone any more.
func (r *Review) committed(merged map[string]State, promoted func(name string) bool) {
	for item, s := range r.mine {
		if s != Skipped {
			delete(r.mine, item)
		}
	}
	r.undo = nil
	clear(r.contested)
	r.Rebase(merged, promoted)
}

// leadBytes is how much of a long line is shown before its first mark.
const leadBytes = 40

// spans divides a line, which begins at an offset of its text, into marked and unmarked spans.
// It takes only the stretch of a long line that has the first mark.
func (s *sheet) spans(line []byte, offset int, marked []stretch) (spans []Span) {
	from, to := 0, len(line)
	if to > s.Columns {
		from, to = window(line, offset, marked, s.Columns)
	}
	if from > 0 {
		spans = append(spans, Span{Text: "+" + readable.Count(from, "byte") + " … "})
	}
	at := from
	for _, m := range marked {
		a, b := max(m.From-offset, at), min(m.To-offset, to)
		if a >= to {
			break
		}
		if a >= b {
			continue
		}
		spans = add(spans, line[at:a], Plain)
		at = b
		if a == 0 && b == len(line) && b > 1 {
			b -= len(line) - len(bytes.TrimSuffix(line, newline)) // a whole line, whose end says nothing
		}
		spans = add(spans, line[a:b], m.mark)
	}
	spans = add(spans, line[at:to], Plain)
	if to < len(line) {
		spans = append(spans, Span{Text: " … +" + readable.Count(len(line)-to, "byte")})
	}
	return spans
}

// window returns the stretch of a long line that is shown.
func window(line []byte, offset int, marked []stretch, columns int) (from, to int) {
	for _, m := range marked {
		if m.From-offset >= len(line) {
			break
		}
		if from = max(0, m.From-offset-leadBytes); m.mark == GoneMark || m.mark == ComeMark {
			break // of the item in focus
		}
	}
	if from <= columns/2 {
		from = 0
	}
	to = min(from+columns, len(line))
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && to > from && !utf8.RuneStart(line[to]) {
		to--
	}
	return from, to
}

// add appends a stretch in readable form. It makes marked blanks visible if nothing else is
// marked, and a marked end of line.
func add(spans []Span, text []byte, m Mark) []Span {
	if m == Plain {
		text = bytes.TrimSuffix(text, newline)
	}
	if len(text) == 0 {
		return spans
	}
	shown := readable.Text(string(text))
	if m != Plain {
		blank := strings.TrimRight(shown, " \t\n")
		shown = blank + visible.Replace(shown[len(blank):])
	}
	return append(spans, Span{shown, m})
}

var visible = strings.NewReplacer(" ", "·", "\t", "→\t", "\n", "⏎")

// Edits returns the edits of a part, and whether these are the ones that were attributed to
// items. If the golden has changed, the attributed edits may no longer turn the old text into
// the new one. Then Edits computes new ones.
func Edits(p Part) (edits []cause.Attributed, attributed bool) {
	if len(p.Edits) > 0 && fit(p) {
		return p.Edits, true
	}
	for _, c := range diff.Changes(p.Old, p.Now) {
		edits = append(edits, cause.Attributed{LiteralEdit: tighten(p, c), Cause: All})
	}
	return edits, false
}

// fit reports whether the edits are in order, and the text between them is equal on both sides.
func fit(p Part) bool {
	old, now := 0, 0
	for _, e := range p.Edits {
		if e.Old.From < old || e.Now.From < now || e.Old.To < e.Old.From || e.Now.To < e.Now.From ||
			e.Old.To > len(p.Old) || e.Now.To > len(p.Now) || !bytes.Equal(p.Old[old:e.Old.From], p.Now[now:e.Now.From]) {
			return false
		}
		old, now = e.Old.To, e.Now.To
	}
	return bytes.Equal(p.Old[old:], p.Now[now:])
}

// tighten removes equal text from both ends of a change of few lines, so that words are marked
// and not whole lines.
func tighten(p Part, c diff.Change) cause.LiteralEdit {
	old, now := p.Old[c.OldFrom:c.OldTo], p.Now[c.NowFrom:c.NowTo]
	head, tail := 0, 0
	if bytes.Count(old, newline) == bytes.Count(now, newline) {
		head = diff.CommonPrefix(old, now)
		for head > 0 && head < len(old) && !utf8.RuneStart(old[head]) || head > 0 && head < len(now) && !utf8.RuneStart(now[head]) {
			head--
		}
		tail = diff.CommonSuffix(old[head:], now[head:])
		for tail > 0 && !utf8.RuneStart(old[len(old)-tail]) {
			tail--
		}
	}
	return cause.LiteralEdit{
		Old: cause.Span{From: c.OldFrom + head, To: c.OldTo - tail},
		Now: cause.Span{From: c.NowFrom + head, To: c.NowTo - tail},
	}
}

var newline = []byte("\n")

// A block is a run of edits that share lines, widened to whole lines. Between two blocks the
// lines are equal.
type block struct {
	old, now cause.Span
	edits    []cause.Attributed
}

// blocks calls yield for each block in order, until yield returns false.
func blocks(p Part, edits []cause.Attributed, yield func(block) bool) {
	var b block
	var all cause.LiteralEdit // from the first edit of b to its last
	for i, e := range edits {
		begun := len(b.edits) > 0
		if begun && e.Old.To < b.old.To && e.Now.To < b.now.To {
			// within lines that the block has, so that a long line is not read again
			all.Old.To, all.Now.To = e.Old.To, e.Now.To
			b.edits = edits[i-len(b.edits) : i+1]
			continue
		}
		old, now := widen(p, e.LiteralEdit)
		if begun && (old.From < b.old.To || now.From < b.now.To) {
			// the text behind the earlier edit is equal only up to this one
			all.Old.To, all.Now.To = e.Old.To, e.Now.To
			old, now = widen(p, all)
			b = block{old, now, edits[i-len(b.edits) : i+1]}
			continue
		}
		if begun && !yield(b) {
			return
		}
		b, all = block{old, now, edits[i : i+1]}, e.LiteralEdit
	}
	if len(b.edits) > 0 {
		yield(b)
	}
}

// widen returns the whole lines that contain an edit, on both sides. The text before the edit,
// and after it up to the next one, is equal on both sides, so both are widened by the same
// bytes.
func widen(p Part, e cause.LiteralEdit) (old, now cause.Span) {
	old, now = e.Old, e.Now
	old.From, now.From = diff.LineStart(p.Old, old.From), diff.LineStart(p.Now, now.From)
	if diff.LineStart(p.Old, old.To) != old.To || diff.LineStart(p.Now, now.To) != now.To {
		old.To, now.To = diff.LineEnd(p.Old, old.To), diff.LineEnd(p.Now, now.To)
	}
	return old, now
}
