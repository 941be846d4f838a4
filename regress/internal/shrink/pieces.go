package shrink

import "bytes"

// lines cuts a source behind each line end.
func lines(text []byte) [][]byte { return bytes.SplitAfter(text, []byte("\n")) }

// words cuts a source into its tokens.
func words(text []byte) [][]byte {
	var list [][]byte
	for _, t := range tokens(text) {
		list = append(list, text[t.from:t.to])
	}
	return list
}

// forms cuts a source behind each thing that looks complete at most depth pairs of
// brackets deep: behind a semicolon, a brace that closes, and a line end. At depth 0 those
// are the functions of a program in C, at depth 1 their statements.
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

// deepest is how many pairs of brackets there are around some token.
func deepest(text []byte) (most int) {
	for _, d := range depths(tokens(text)) {
		most = max(most, d)
	}
	return most
}

// balance says which brackets a piece opens and closes that it does not close and open.
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
