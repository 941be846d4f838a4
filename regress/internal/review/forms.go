package review

import (
	"bytes"

	"muster/internal/readable"
	"muster/regress/internal/cause"
	"muster/regress/internal/plaintext"
)

// unified shows the old lines of a block, then the new ones. If there is not enough room for
// all, both sides get a share, because one side alone says little.
func (s *sheet) unified(b block) {
	old, now := s.shares(b)
	was := s.sideLines(s.part.Old, b.old, s.marks(b.edits, true), old)
	for i, spans := range was {
		s.put(Line{Kind: Gone, Old: s.oldNumber + 1 + i, Left: spans})
	}
	s.cut(len(was), plaintext.CountLines(s.part.Old[b.old.From:b.old.To]), "taken out")
	s.noNewline(s.part.Old, s.part.Now, b.old)
	is := s.sideLines(s.part.Now, b.now, s.marks(b.edits, false), now)
	for i, spans := range is {
		s.put(Line{Kind: Come, Now: s.nowNumber + 1 + i, Left: spans})
	}
	s.cut(len(is), plaintext.CountLines(s.part.Now[b.now.From:b.now.To]), "put in")
	s.noNewline(s.part.Now, s.part.Old, b.now)
}

// shares returns the number of lines that each side has room for.
func (s *sheet) shares(b block) (old, now int) {
	a, c := plaintext.CountLines(s.part.Old[b.old.From:b.old.To]), plaintext.CountLines(s.part.Now[b.now.From:b.now.To])
	old = min(a, max((s.room+1)/2, s.room-c))
	return old, min(c, s.room-old)
}

// cut reports the number of lines of a block that are not shown.
func (s *sheet) cut(shown, total int, what string) {
	if total > shown {
		s.lines = append(s.lines, remark("%s %s", readable.Count(total-shown, "more line"), what))
	}
}

// noNewline marks a text that ends without a newline, if the other one ends differently.
func (s *sheet) noNewline(text, other []byte, b cause.Span) {
	if b.To == len(text) && b.From < b.To && text[b.To-1] != '\n' && bytes.HasSuffix(other, newline) {
		s.lines = append(s.lines, Line{Kind: Remark, Left: []Span{{Text: `\ No newline at end of file`}}})
	}
}

// sides shows the old lines of a block beside the new ones.
func (s *sheet) sides(b block) {
	was := s.sideLines(s.part.Old, b.old, s.marks(b.edits, true), s.room)
	is := s.sideLines(s.part.Now, b.now, s.marks(b.edits, false), s.room)
	for i := range max(len(was), len(is)) {
		line := Line{Kind: Changed}
		if i < len(was) {
			line.Old, line.Left = s.oldNumber+1+i, was[i]
		} else {
			line.Kind = Come
		}
		if i < len(is) {
			line.Now, line.Right = s.nowNumber+1+i, is[i]
		} else {
			line.Kind = Gone
		}
		s.put(line)
	}
	s.cut(len(was), plaintext.CountLines(s.part.Old[b.old.From:b.old.To]), "taken out")
	s.cut(len(is), plaintext.CountLines(s.part.Now[b.now.From:b.now.To]), "put in")
	s.noNewline(s.part.Old, s.part.Now, b.old)
	s.noNewline(s.part.Now, s.part.Old, b.now)
}

// sideLines returns the lines of a range, at most count of them.
func (s *sheet) sideLines(text []byte, r cause.Span, marked []stretch, count int) (lines [][]Span) {
	for at := r.From; at < r.To && len(lines) < count; {
		end := min(r.To, plaintext.LineEnd(text, at))
		for len(marked) > 0 && marked[0].To <= at {
			marked = marked[1:]
		}
		lines = append(lines, s.spans(text[at:end], at, marked))
		at = end
	}
	return lines
}
