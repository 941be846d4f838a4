package shrink

// A token is the smallest removable unit: a word, a number, a string, a comment that ends in its
// line, or a single character, with the spaces before it.
type token struct {
	from, to int
	at       int  // behind the spaces
	first    byte // its first byte
	newline  bool // the spaces contain a line end
}

// tokens splits a source. The text after the last token belongs to that token, so that all tokens
// make up the source.
func tokens(text []byte) (list []token) {
	for at := 0; at < len(text); {
		t := token{from: at}
		for at < len(text) && isSpace(text[at]) {
			t.newline = t.newline || text[at] == '\n'
			at++
		}
		if at == len(text) {
			if len(list) > 0 {
				list[len(list)-1].to = at
				break
			}
			t.to = at
			return append(list, t)
		}
		t.at, t.first = at, text[at]
		at += tokenLength(text[at:])
		t.to = at
		list = append(list, t)
	}
	return list
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// tokenLength returns the length of the token that text begins with.
func tokenLength(text []byte) int {
	n := 1
	switch c := text[0]; {
	case isWord(c):
		for n < len(text) && isWord(text[n]) {
			n++
		}
	case c == '"' || c == '\'' || c == '`':
		return stringLength(text)
	}
	return n
}

// quotedMax bounds the length of a string.
const quotedMax = 4 << 10

// stringLength returns the length of the string that text begins with. If it does not end in its
// line, the mark is probably an apostrophe, and the length is 1.
func stringLength(text []byte) int {
	for n := 1; n < len(text) && n < quotedMax && text[n] != '\n'; n++ {
		switch text[n] {
		case text[0]:
			return n + 1
		case '\\':
			n++
		}
	}
	return 1
}

// closing returns the bracket that closes another, or 0.
func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	}
	return 0
}

// A group is a pair of brackets, as indexes of tokens.
type group struct{ open, close int }

// groups pairs the brackets, in the order in which they open. It ignores brackets without a match.
func groups(list []token) (found []group) {
	var open []int // indexes in found
	for i, t := range list {
		if closing(t.first) != 0 {
			open = append(open, len(found))
			found = append(found, group{i, -1})
			continue
		}
		for n := len(open) - 1; n >= 0; n-- {
			if closing(list[found[open[n]].open].first) == t.first {
				found[open[n]].close = i
				open = open[:n]
				break
			}
		}
	}
	matched := found[:0]
	for _, g := range found {
		if g.close >= 0 {
			matched = append(matched, g)
		}
	}
	return matched
}

// depths returns for each token the number of bracket pairs around it. A bracket is outside its own
// pair.
func depths(list []token) []int {
	change := make([]int, len(list)+1)
	for _, g := range groups(list) {
		change[g.open+1]++
		change[g.close]--
	}
	depth, now := make([]int, len(list)), 0
	for i := range list {
		now += change[i]
		depth[i] = now
	}
	return depth
}
