package document

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a value.
type Kind byte

// The kinds, a closed set.
const (
	Values   Kind = iota // of a whole text in JSON
	Messages             // of a whole text of diagnostics: objects with file, line, column and message, or other lines
	Object               // has members
	List                 // has elements
	String               // with its quotes
	Sentence             // words without quotes
	Literal              // a number, true, false or null
)

// A Node is a value, with its key if it is a member of an object.
type Node struct {
	Kind     Kind
	From, To int    // its bytes
	Key      []byte // of a member, as it is written, without quotes; nil for an element
	Items    []Node // members or elements, in order

	content uint64 // a digest of all but whitespace between values
	shape   uint64 // the same without numbers, true, false and null; of a line that is no diagnostic without digits
}

// IsContainer reports whether a value has items.
func (n *Node) IsContainer() bool { return n.Kind <= List }

// isTuple reports whether a value is a short list of numbers, such as a place or a range.
func (n *Node) isTuple() bool {
	isOther := func(item Node) bool { return item.Kind != Literal }
	return n.Kind == List && len(n.Items) <= tupleMax && !slices.ContainsFunc(n.Items, isOther)
}

// tupleMax is the number of items of the longest tuple.
const tupleMax = 4

// DiffersInNumbers reports whether two lines that are no diagnostics differ at most in numbers.
func (n *Node) DiffersInNumbers(o *Node) bool {
	return n.Kind == Sentence && n.Key == nil && o.Kind == Sentence && o.Key == nil && n.shape == o.shape
}

// Words returns the range of the text of a string, without quotes, or of another value.
func (n *Node) Words() (from, to int) {
	if n.Kind == String {
		return n.From + 1, n.To - 1
	}
	return n.From, n.To
}

// FNV. Two contents with the same digest are taken as equal; the edits of a text are checked.
const (
	seed  = 14695981039346656037
	prime = 1099511628211
)

func sum(digest uint64, b []byte) uint64 {
	for _, c := range b {
		digest = (digest ^ uint64(c)) * prime
	}
	return digest
}

// sumWithoutDigits is the same for lines that differ only in numbers.
func sumWithoutDigits(b []byte) uint64 {
	digest, isNumber := uint64(seed), false
	for _, c := range b {
		isDigit := c >= '0' && c <= '9'
		if !isDigit {
			digest = (digest ^ uint64(c)) * prime
		} else if !isNumber {
			digest = (digest ^ '0') * prime
		}
		isNumber = isDigit
	}
	return digest
}

// digest sets the digests of a value from those of its items.
func (n *Node) digest(text []byte) {
	n.content = (seed ^ uint64(n.Kind)) * prime
	n.shape = n.content
	switch n.Kind {
	case String, Sentence:
		n.content = sum(n.content, text[n.From:n.To])
		n.shape = n.content
	case Literal:
		n.content = sum(n.content, text[n.From:n.To])
	}
	for i := range n.Items {
		item := &n.Items[i]
		key := sum(seed, item.Key)
		n.content = ((n.content^key)*prime ^ item.content) * prime
		n.shape = ((n.shape^key)*prime ^ item.shape) * prime
	}
}

// A path is where a value is: the last two keys on the way to it, with [] for a list. $ is the text.
type path string

// keyMax is how much of a key is in a path, in bytes.
const keyMax = 40

// to returns the path of an item.
func (p path) to(item *Node) path {
	if item.Key == nil {
		if !strings.HasSuffix(string(p), "[]") {
			p += "[]"
		}
		return p
	}
	key := keyName(item.Key)
	if p == "$" || p == "$[]" {
		return key
	}
	p = p[1+strings.LastIndexByte(string(p), '.'):]
	return p + "." + key
}

// keyName returns a key as it is in a path, without the end of a long one. A key that is empty or has blanks at an end
// is quoted.
func keyName(key []byte) path {
	name := key
	if len(key) > keyMax {
		for name = key[:keyMax]; !utf8.RuneStart(key[len(name)]) && len(name) > keyMax-utf8.UTFMax; {
			name = name[:len(name)-1]
		}
		return path(name) + "…"
	}
	if len(bytes.TrimSpace(name)) < len(name) || len(name) == 0 {
		return path(`"` + string(name) + `"`)
	}
	return path(name)
}
