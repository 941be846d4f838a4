package hole

import (
	"slices"
	"strings"
)

// A piece is a part of a line that varies: tokens that all runs share, or a hole.
type piece struct {
	literal []string // tokens; nil for a hole
	class   Class
	bag     bag // of the class Order: the tokens
}

// length returns how many tokens the piece stands for, or anyLength.
func (p *piece) length() int {
	switch {
	case p.literal != nil:
		return len(p.literal)
	case p.class == Order:
		return p.bag.size
	case p.class == Free:
		return anyLength
	}
	return 1
}

// fits reports whether tokens, as many as the length of the piece, fit it.
func (p *piece) fits(tokens []token) bool {
	switch {
	case p.literal != nil:
		return slices.EqualFunc(p.literal, tokens, func(text string, t token) bool { return text == t.text })
	case p.class == Order:
		return p.bag.equals(textsOf(tokens))
	}
	return tokens[0].isOf(p.class)
}

// fitPieces reports whether a line fits pieces.
func fitPieces(pieces []piece, line string) bool {
	tokens := tokensOf(line)
	return fit(len(pieces), len(tokens), func(i int) int { return pieces[i].length() },
		func(i, at int) bool { return pieces[i].fits(tokens[at : at+pieces[i].length()]) })
}

// markPieces returns the text of pieces with a mark for each hole. first is the line of the first
// text. Words in another order stay.
func markPieces(pieces []piece, first string) string {
	if slices.ContainsFunc(pieces, func(p piece) bool { return p.literal == nil && p.class == Order }) {
		return first
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.literal == nil {
			b.WriteString(p.class.mark())
			continue
		}
		for _, text := range p.literal {
			b.WriteString(text)
		}
	}
	return b.String()
}

// markPartly returns a line with a mark in place of each hole that fits, from both ends up to the
// first piece that does not.
func markPartly(pieces []piece, line string) string {
	tokens := tokensOf(line)
	var head, tail string
	for len(pieces) > 0 {
		n := pieces[0].length()
		if n == anyLength || n > len(tokens) || !pieces[0].fits(tokens[:n]) {
			break
		}
		head += pieces[0].marked(tokens[:n])
		pieces, tokens = pieces[1:], tokens[n:]
	}
	for len(pieces) > 0 {
		last := &pieces[len(pieces)-1]
		n := last.length()
		if n == anyLength || n > len(tokens) || !last.fits(tokens[len(tokens)-n:]) {
			break
		}
		tail = last.marked(tokens[len(tokens)-n:]) + tail
		pieces, tokens = pieces[:len(pieces)-1], tokens[:len(tokens)-n]
	}
	return head + strings.Join(textsOf(tokens), "") + tail
}

// marked returns the mark of a hole, or the text of tokens that fit: a literal, or words in another
// order.
func (p *piece) marked(tokens []token) string {
	if p.literal != nil || p.class == Order {
		return strings.Join(textsOf(tokens), "")
	}
	return p.class.mark()
}

// piecesOf returns the pieces of a line that varies. lines has its tokens in each text.
func piecesOf(lines [][]token) []piece {
	least, same := len(lines[0]), true
	for _, line := range lines {
		least, same = min(least, len(line)), same && len(line) == len(lines[0])
	}
	head := commonTokens(lines, least, func(line []token, i int) token { return line[i] })
	tail := commonTokens(lines, least-head, func(line []token, i int) token { return line[len(line)-1-i] })
	first := lines[0]
	l := pieceList{}
	l.addLiteral(first[:head])
	end := len(first) - tail
	switch {
	case !same:
		l.pieces = append(l.pieces, piece{class: Free})
	case sameTokens(lines, head, end):
		l.pieces = append(l.pieces, piece{class: Order, bag: newBag(textsOf(first[head:end]))})
	default:
		for i := head; i < end; i++ {
			l.addColumn(column(lines, i))
		}
	}
	l.addLiteral(first[end:])
	return l.pieces
}

// columnsOf returns the pieces of lines that have the same number of tokens.
func columnsOf(alternatives []string) []piece {
	lines := make([][]token, len(alternatives))
	for i, line := range alternatives {
		lines[i] = tokensOf(line)
	}
	l := pieceList{}
	for i := range lines[0] {
		l.addColumn(column(lines, i))
	}
	return l.pieces
}

// commonTokens counts the tokens that all lines share, in the order of at, up to most.
func commonTokens(lines [][]token, most int, at func(line []token, i int) token) int {
	for i := range most {
		for _, line := range lines[1:] {
			if at(line, i).text != at(lines[0], i).text {
				return i
			}
		}
	}
	return most
}

// sameTokens reports whether all lines have the same tokens between two places, in any order.
func sameTokens(lines [][]token, from, to int) bool {
	b := newBag(textsOf(lines[0][from:to]))
	return !slices.ContainsFunc(lines[1:], func(line []token) bool { return !b.equals(textsOf(line[from:to])) })
}

// column returns the element at a place of each list.
func column[T any](lists [][]T, at int) []T {
	column := make([]T, len(lists))
	for i, list := range lists {
		column[i] = list[at]
	}
	return column
}

// pieceList collects pieces, and joins literals.
type pieceList struct{ pieces []piece }

func (l *pieceList) addLiteral(tokens []token) {
	if len(tokens) == 0 {
		return
	}
	if n := len(l.pieces); n > 0 && l.pieces[n-1].literal != nil {
		l.pieces[n-1].literal = append(l.pieces[n-1].literal, textsOf(tokens)...)
		return
	}
	l.pieces = append(l.pieces, piece{literal: textsOf(tokens)})
}

// addColumn adds the token that each run has at the same place.
func (l *pieceList) addColumn(tokens []token) {
	if allEqual(textsOf(tokens)) {
		l.addLiteral(tokens[:1])
		return
	}
	l.pieces = append(l.pieces, piece{class: commonClass(tokens)})
}

func allEqual(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return text != texts[0] })
}
