package edit

import (
	"bytes"
	"slices"

	"muster/regress/internal/cause/document"
	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
	"muster/regress/internal/plaintext"
)

// compareDocuments finds the edits of two texts that are documents of one kind, by their structure. It returns
// false for other texts.
func compareDocuments(t *text) bool {
	a, b, ok := document.ParseBoth(t.old, t.now)
	if !ok {
		return false
	}
	t.counter = lineCounter{text: t.now}
	document.Compare(t.old, t.now, a, b, &t.scratch.Aligner, func(c document.Change) {
		t.record = c.Record
		switch {
		case c.IsValue:
			documents{t}.changeValue(c)
		case len(c.OldValues)+len(c.NowValues) > 0:
			documents{t}.changeItems(c)
		default:
			t.isLayout = a.Kind == document.Values && c.Old.From < a.Items[len(a.Items)-1].To
			t.compareRange(Span(c.Old), Span(c.Now))
			t.isLayout = false
		}
	})
	return true
}

// documents are the two documents of a text.
type documents struct{ *text }

// changeValue adds the edit of a value. A string that has mostly the same words is compared like any text.
func (t documents) changeValue(c document.Change) {
	x, y := c.OldValues[0], c.NowValues[0]
	if x.Kind == y.Kind && !x.IsContainer() {
		var old, now Span
		old.From, old.To = x.Words()
		now.From, now.To = y.Words()
		if x.DiffersInNumbers(&y) && t.changeNumbers(old, now) {
			return
		}
		if x.Kind != document.Literal && t.areMostlySame(old, now) {
			t.compareRange(old, now)
			return
		}
	}
	a, b := t.valueElements(0, x), t.valueElements(1, y)
	if x.Kind != y.Kind && (t.isNumber(0, x) || t.isNumber(1, y) || areEqual(a, b)) {
		a, b = t.quotedElements(0, x, a), t.quotedElements(1, y, b)
	}
	t.addWords(Span(c.Old), Span(c.Now), a, b, "at "+c.Path)
}

// isNumber reports whether a value of a side is a number.
func (t documents) isNumber(side int, n document.Node) bool {
	c := t.around[side].text[n.From]
	return n.Kind == document.Literal && (c == '-' || token.IsDigit(c))
}

func areEqual(a, b []element) bool {
	return slices.EqualFunc(a, b, func(x, y element) bool { return x.kind == y.kind && bytes.Equal(x.text, y.text) })
}

// quotedElements puts the quotes of a string around its elements: "12" is not 12.
func (t documents) quotedElements(side int, n document.Node, es []element) []element {
	if n.Kind != document.String || string(es[0].text) == noWords {
		return es
	}
	quote := func(at int) element { return element{token.Sign, t.around[side].text[at : at+1], int32(at)} }
	return append(append([]element{quote(n.From)}, es...), quote(n.To-1))
}

// changeNumbers adds an edit for each number that differs in two lines, with the word beside it as its context:
// these are counts. It returns false if anything else differs.
func (t documents) changeNumbers(old, now Span) bool {
	a, b := token.Append(nil, t.old[:old.To], old.From, old.To), token.Append(nil, t.now[:now.To], now.From, now.To)
	differ := func(i int) bool { return !bytes.Equal(a[i].Bytes(t.old), b[i].Bytes(t.now)) }
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if differ(i) && (a[i].Kind != token.Number || b[i].Kind != token.Number) {
			return false
		}
	}
	for i, x := range a {
		if !differ(i) {
			continue
		}
		in := "at $"
		switch {
		case i+1 < len(a) && a[i+1].Kind == token.Word:
			in = "before " + string(a[i+1].Bytes(t.old))
		case i > 0 && a[i-1].Kind == token.Word:
			in = "behind " + string(a[i-1].Bytes(t.old))
		}
		y := b[i]
		x.Gap, y.Gap = x.From, y.From
		t.addWords(Span{int(x.From), int(x.To)}, Span{int(y.From), int(y.To)}, collapse(nil, t.old, []token.Token{x}), collapse(nil, t.now, []token.Token{y}), in)
	}
	return true
}

// areMostlySame reports whether two ranges have three of four tokens in common, in one order.
func (t documents) areMostlySame(old, now Span) bool {
	s := t.scratch
	s.old = token.Append(s.old[:0], t.old[:old.To], old.From, old.To)
	s.now = token.Append(s.now[:0], t.now[:now.To], now.From, now.To)
	keys := func(tokens []token.Token) (list []uint64) {
		for _, k := range tokens {
			list = append(list, k.Key)
		}
		return list
	}
	same := len(s.old)
	for _, b := range s.Blocks(keys(s.old), keys(s.now), tokensMax) {
		same -= b.A1 - b.A0
	}
	return 4*same >= 3*max(len(s.old), len(s.now))
}

// valueElements returns the elements of a value of a side: the tokens of a string or a number.
func (t documents) valueElements(side int, n document.Node) []element {
	if n.IsContainer() {
		return []element{{token.Length, containerMark(n), int32(n.From)}}
	}
	text := t.around[side].text
	from, to := n.Words()
	if es := collapse(nil, text, token.Append(nil, text[:to], from, to)); len(es) > 0 {
		return es
	}
	return []element{{token.Sign, []byte(noWords), int32(n.From)}}
}

// noWords stands for a string without words.
const noWords = `""`

func containerMark(n document.Node) []byte {
	if n.Kind == document.Object {
		return []byte("{…}")
	}
	return []byte("[…]")
}

// changeItems adds the edit of items that came or went. Its elements are the keys of members, or for elements
// of a list their kinds, each once.
func (t documents) changeItems(c document.Change) {
	if c.AreLines && !c.IsOrder {
		t.changeLines(c)
		return
	}
	from := plaintext.CommonPrefix(t.old[c.Old.From:c.Old.To], t.now[c.Now.From:c.Now.To])
	old, now := Span{c.Old.From + from, c.Old.To}, Span{c.Now.From + from, c.Now.To}
	to := plaintext.CommonSuffix(t.old[old.From:old.To], t.now[now.From:now.To])
	old.To, now.To = old.To-to, now.To-to
	if c.IsOrder {
		some := []element{{kind: token.Length, text: []byte("…")}}
		t.addPattern(pattern.Move, old, now, some, some, "in "+c.Path)
		return
	}
	t.addPattern(pattern.Value, old, now, itemElements(c.OldValues), itemElements(c.NowValues), "in "+c.Path)
}

// changeLines adds an edit for each line that went, and then for each that came. Each has its whole line, so that one
// can be accepted without the others.
func (t documents) changeLines(c document.Change) {
	x, y := c.OldValues, c.NowValues
	old, now := Span(c.Old), Span(c.Now)
	for old.From < old.To && now.From < now.To && t.old[old.From] == t.now[now.From] && token.IsSpace(t.old[old.From]) {
		old.From, now.From = old.From+1, now.From+1
	}
	for old.From < old.To && now.From < now.To && t.old[old.To-1] == t.now[now.To-1] && (t.old[old.To-1] == ' ' || t.old[old.To-1] == '\t') {
		old.To, now.To = old.To-1, now.To-1 // the indent of the next line
	}
	for i := range x {
		gone, with := Span{old.From, old.To}, Span{now.From, now.From}
		if i < len(x)-1 {
			gone.To = x[i+1].From
		} else if len(y) == 0 {
			with.To = now.To // whitespace
		}
		t.addLine(gone, with, t.valueElements(0, x[i].Message()), nil, x[i].IsContainer())
		old.From = gone.To
	}
	for j := range y {
		come, with := now, old
		if j < len(y)-1 {
			come.To = y[j+1].From
		}
		t.addLine(with, come, nil, t.valueElements(1, y[j].Message()), y[j].IsContainer())
		now.From, old.From = come.To, old.To
	}
}

// addLine adds an edit of a diagnostic, or of another line, which is as in any text.
func (t documents) addLine(old, now Span, a, b []element, isDiagnostic bool) {
	if isDiagnostic {
		t.addWords(old, now, a, b, "")
		return
	}
	t.changed += int64(max(old.To-old.From, now.To-now.From))
	t.scratch.key = appendEdit(t.scratch.key[:0], a, b)
	n := t.add(Place{LiteralEdit: LiteralEdit{old, now}, Cut: t.keepCuts(a, b)}, t.scratch.key)
	t.words.SetSpaces(n, pattern.Spaces{Old: spacesOf(t.old, a), Now: spacesOf(t.now, b)})
}

func itemElements(items []document.Node) (es []element) {
	known := map[string]bool{} // items may be very many
	for _, n := range items {
		e := element{token.Length, []byte("…"), int32(n.From)}
		switch {
		case n.Key != nil:
			e.kind, e.text = token.Word, bytes.Map(visible, n.Key)
		case n.IsContainer():
			e.text = containerMark(n)
		}
		if key := string(e.kind) + string(e.text); !known[key] {
			known[key] = true
			es = append(es, e)
		}
	}
	return shorten(es)
}

// visible replaces spaces, which separate the elements of a pattern.
func visible(r rune) rune {
	if r <= ' ' {
		return '_'
	}
	return r
}

// addWords adds an edit of values, whose elements are written as they are in the texts.
func (t documents) addWords(old, now Span, a, b []element, in string) {
	n := t.addPattern(pattern.Value, old, now, a, b, in)
	if len(a) > 1 || len(b) > 1 {
		t.words.SetSpaces(n, pattern.Spaces{Old: spacesOf(t.old, a), Now: spacesOf(t.now, b)})
	}
}

// addPattern adds an edit in a document, and returns its pattern. Its context is the path, if any.
func (t documents) addPattern(sort pattern.Sort, old, now Span, a, b []element, in string) int32 {
	t.changed += int64(max(old.To-old.From, now.To-now.From))
	key := appendElements(append(t.scratch.key[:0], sort.Key("")...), a)
	key = appendElements(append(key, '\t'), b)
	if in != "" {
		key = append(append(key, '\t'), in...)
	}
	t.scratch.key = key
	return t.add(Place{LiteralEdit: LiteralEdit{old, now}, Cut: -1}, t.scratch.key)
}
