package edit

import (
	"bytes"
	"cmp"
	"slices"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// An element is a unit of a pattern: a token, or several that count as one.
type element struct {
	kind token.Kind
	text []byte
	at   int32 // where it begins, with the whitespace before it
}

const (
	ElementsMax = 24 // on one side; of a longer side the head, the length class and the tail are kept
	headMax     = 8
	tailMax     = 4
)

// collapse appends the elements of one side of an edit.
func collapse(es []element, text []byte, tokens []token.Token) []element {
	var u unclosedMarkers
	for i := 0; i < len(tokens); {
		k := tokens[i]
		e := element{k.Kind, k.Bytes(text), k.Gap}
		n := 1
		if k.Kind == token.Sign {
			if size := u.stringLength(text, tokens, i); size > 0 {
				e.kind, e.text, n = token.Quoted, text[k.From:k.From+1], size
			} else if size := u.remarkLength(text, tokens, i); size > 1 {
				es = append(es, e)
				e, n = element{token.Remark, nil, tokens[i+1].Gap}, size-1
				i++
			}
		} else if k.Kind == token.Word {
			n = nameLength(text, tokens[i:])
			e.text = text[k.From:tokens[i+n-1].To]
		}
		es = append(es, e)
		i += n
	}
	return shorten(es)
}

// shorten keeps the head and the tail of many elements, and the class of their number.
func shorten(es []element) []element {
	n := len(es)
	if n <= ElementsMax {
		return es
	}
	copy(es[headMax+1:], es[n-tailMax:])
	es[headMax] = element{token.Length, lengthClass(n), es[headMax].at}
	return es[:headMax+1+tailMax]
}

// foldRules makes rules of signs equal, whatever their length, and groups of signs that repeat: the line
// below the heading of a table is the same for all widths, and for few columns and many.
func foldRules(es []element) []element {
	out := es[:0]
	for i := 0; i < len(es); i++ {
		e := es[i]
		if e.isRule() {
			e.text = e.text[:token.RuleMin]
		}
		out = append(out, e)
		for n := 2; n <= len(out)/2; n++ {
			if again := len(out) - n; areSameSigns(out[again-n:again], out[again:]) {
				out = out[:again]
				break
			}
		}
	}
	return out
}

// isRule reports whether an element is a sign repeated.
func (e element) isRule() bool {
	return e.kind == token.Sign && len(e.text) >= token.RuleMin && bytes.IndexByte([]byte("-=~"), e.text[0]) >= 0 && bytes.Count(e.text, e.text[:1]) == len(e.text)
}

func areSameSigns(a, b []element) bool {
	return !slices.ContainsFunc(a, func(e element) bool { return e.kind != token.Sign }) && slices.EqualFunc(a, b, func(x, y element) bool { return bytes.Equal(x.text, y.text) })
}

func lengthClass(n int) []byte {
	switch {
	case n <= 60:
		return []byte("…")
	case n <= 400:
		return []byte("……")
	}
	return []byte("………")
}

// unclosedMarkers remembers openings without an end, so that each is searched only once. The tokens
// after an escaped quote are also those after the unclosed quote.
type unclosedMarkers struct {
	quotes [3]int // for " ' ` the token before which no string begins
	remark bool   // no comment ends after this point
}

// stringLength returns the number of tokens of the quoted string that begins at i and ends on the
// same line, or 0.
func (u *unclosedMarkers) stringLength(text []byte, tokens []token.Token, i int) int {
	q := text[tokens[i].From]
	which := bytes.IndexByte([]byte("\"'`"), q)
	if which < 0 || tokens[i].To-tokens[i].From != 1 || i < u.quotes[which] {
		return 0
	}
	at := i + 1
	for ; at < len(tokens); at++ {
		k := tokens[at]
		if bytes.IndexByte(text[k.Gap:k.From], '\n') >= 0 {
			break
		}
		switch {
		case k.Kind == token.Sign && k.To-k.From == 1 && text[k.From] == '\\' && at+1 < len(tokens) && tokens[at+1].Gap == k.To:
			at++
		case k.Kind == token.Sign && text[k.From] == q:
			return at + 1 - i
		}
	}
	u.quotes[which] = at
	return 0
}

// remarkLength returns the number of tokens of the comment that begins at i, with its marker. The
// comment ends with the line or with its closing marker.
func (u *unclosedMarkers) remarkLength(text []byte, tokens []token.Token, i int) int {
	k := tokens[i]
	s := string(k.Bytes(text))
	if s == "/*" {
		if u.remark {
			return 0
		}
		n := 1
		for i+n < len(tokens) && string(tokens[i+n].Bytes(text)) != "*/" {
			n++
		}
		if i+n == len(tokens) {
			u.remark = true
			return 0
		}
		return n
	}
	if s != "//" && s != "#" && s != "--" || k.Gap == k.From && k.Gap != 0 {
		return 0
	}
	if s != "//" && (i+1 == len(tokens) || tokens[i+1].Gap == tokens[i+1].From) { // #include, --flag
		return 0
	}
	n := 1
	for i+n < len(tokens) && bytes.IndexByte(text[tokens[i+n].Gap:tokens[i+n].From], '\n') < 0 {
		n++
	}
	return n
}

// nameLength returns the number of tokens of the name that begins here, such as a.b::c$1.
func nameLength(text []byte, tokens []token.Token) int {
	n := 1
	for n < len(tokens) && tokens[n].Gap == tokens[n].From {
		if tokens[n].Kind != token.Sign {
			n++
			continue
		}
		s := string(tokens[n].Bytes(text))
		joins := s == "." || s == "::" || s == "$"
		if !joins || n+1 == len(tokens) || tokens[n+1].Kind == token.Sign || tokens[n+1].Gap != tokens[n+1].From {
			return n
		}
		n += 2
	}
	return n
}

// appendEdit appends the pattern of an edit: its sort, one side, the other side.
func appendEdit(key []byte, old, now []element) []byte {
	key = append(key, pattern.Edit.Key("")...)
	key = appendElements(key, old)
	key = append(key, '\t')
	return appendElements(key, now)
}

func appendElements(key []byte, es []element) []byte {
	for i, e := range es {
		if i > 0 {
			key = append(key, ' ')
		}
		key = append(key, byte(e.kind))
		key = append(key, e.text...)
	}
	return key
}

// A gapChange is a change of whitespace.
type gapChange struct {
	sort     gapSort
	old, now gapForm // of a gap between two tokens
}

// A gapSort is the place and the direction of a change of whitespace, as in patterns. Its text is part of
// the signatures of causes and must not change.
type gapSort string

const (
	between        gapSort = ""          // two tokens
	alignment      gapSort = "alignment" // the number of spaces that align something
	crlfToLF       gapSort = "line end CRLF → LF"
	lfToCRLF       gapSort = "line end LF → CRLF"
	trailingLess   gapSort = "trailing space −"
	trailingMore   gapSort = "trailing space +"
	trailingOther  gapSort = "trailing space" // as much, of another kind
	blankLess      gapSort = "blank line −"
	blankMore      gapSort = "blank line +"
	blankOther     gapSort = "blank line" // their whitespace
	indentToSpaces gapSort = "indent tab → spaces"
	indentToTab    gapSort = "indent spaces → tab"
	indentMore     gapSort = "indent +"
	indentLess     gapSort = "indent −"
	indentOther    gapSort = "indent"
)

// A gapForm is the content of a gap between two tokens. It is part of signatures like a gapSort.
type gapForm string

const (
	noSpace    gapForm = "no space"
	oneSpace   gapForm = "space"
	manySpaces gapForm = "spaces"
	someTab    gapForm = "tab"
	lineBreak  gapForm = "line break"
	otherSpace gapForm = "other space"
)

// key returns the text of a change in patterns.
func (c gapChange) key() string {
	if c.sort == between {
		return string(c.old + " → " + c.now)
	}
	return string(c.sort)
}

func (c gapChange) isOfBlankLines() bool {
	return c.sort == blankLess || c.sort == blankMore || c.sort == blankOther
}

// isBroken reports whether a line break between two tokens was added or removed.
func (c gapChange) isBroken() bool {
	return c.sort == between && (c.old == lineBreak || c.now == lineBreak)
}

// dependsOnPlace reports whether the place of the change matters. Formatters break lines and space
// signs by what they are in or beside. For indents and padding only their line matters.
func (c gapChange) dependsOnPlace() bool {
	return c.isOfBlankLines() || c.isBroken() || c.sort == between && c.old != someTab
}

// gapWithinLine returns the change of a gap between two tokens that has a line break on at most one
// side.
func gapWithinLine(a, b []byte, aLine, bLine int) gapChange {
	switch {
	case aLine >= 0:
		return gapChange{between, lineBreak, formOf(b)}
	case bLine >= 0:
		return gapChange{between, formOf(a), lineBreak}
	case len(a) > 1 && len(b) > 1 && !bytes.ContainsAny(a, "\t") && !bytes.ContainsAny(b, "\t"):
		return gapChange{sort: alignment}
	}
	return gapChange{between, formOf(a), formOf(b)}
}

// formOf returns the form of a gap within a line.
func formOf(b []byte) gapForm {
	switch {
	case len(b) == 0:
		return noSpace
	case bytes.IndexByte(b, '\t') >= 0:
		return someTab
	case bytes.ContainsAny(b, "\r\v\f"):
		return otherSpace
	case len(b) == 1:
		return oneSpace
	}
	return manySpaces
}

func trailingSort(a, b []byte) gapSort {
	switch {
	case string(a) == "\r" && len(b) == 0:
		return crlfToLF
	case len(a) == 0 && string(b) == "\r":
		return lfToCRLF
	}
	return bySize(len(a), len(b), trailingLess, trailingOther, trailingMore)
}

func blankLineSort(a, b []byte) gapSort {
	return bySize(bytes.Count(a, newline), bytes.Count(b, newline), blankLess, blankOther, blankMore)
}

// bySize returns one of three sorts: there is less than before, as much, or more.
func bySize(old, now int, less, same, more gapSort) gapSort {
	return [...]gapSort{less, same, more}[1+cmp.Compare(now, old)]
}

func indentSort(a, b []byte) gapSort {
	tabs, now := bytes.Count(a, []byte("\t")), bytes.Count(b, []byte("\t"))
	switch {
	case tabs > 0 && now == 0 && len(b) > 0:
		return indentToSpaces
	case tabs == 0 && now > 0 && len(a) > 0:
		return indentToTab
	}
	return bySize(len(a), len(b), indentLess, indentOther, indentMore)
}
