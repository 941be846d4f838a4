package shrink

import "bytes"

// lines cuts a source after each line end.
func lines(text []byte) [][]byte { return bytes.SplitAfter(text, []byte("\n")) }

// words cuts a source into its tokens.
func words(text []byte) [][]byte {
	var list [][]byte
	for _, t := range tokens(text) {
		list = append(list, text[t.from:t.to])
	}
	return list
}

// forms cuts a source after each thing that looks complete within at most depth pairs of brackets:
// after a semicolon, a closing brace or a line end. In a C program these are functions at depth 0,
// and their statements at depth 1.
func forms(depth int) func([]byte) [][]byte {
	return func(text []byte) (list [][]byte) {
		toks := tokens(text)
		at, deep := 0, depths(toks)
		for i, t := range toks {
			if deep[i] > depth || i+1 == len(toks) || toks[i+1].first == ';' {
				continue
			}
			if t.first == ';' || t.first == '}' || toks[i+1].newline && deep[i+1] <= depth && toks[i+1].first != '{' {
				list, at = append(list, text[at:t.to]), t.to
			}
		}
		return append(list, text[at:])
	}
}

// deepest returns the largest number of bracket pairs around a token.
func deepest(text []byte) (most int) {
	for _, d := range depths(tokens(text)) {
		most = max(most, d)
	}
	return most
}

// balance counts the unmatched brackets of a piece.
type balance struct{ round, square, curly int }

func balanceOf(piece []byte) (b balance) {
	for _, t := range tokens(piece) {
		switch t.first {
		case '(':
			b.round++
		case ')':
			b.round--
		case '[':
			b.square++
		case ']':
			b.square--
		case '{':
			b.curly++
		case '}':
			b.curly--
		}
	}
	return b
}

func (b balance) plus(c balance) balance {
	return balance{b.round + c.round, b.square + c.square, b.curly + c.curly}
}
