package document

import (
	"bytes"
	"slices"

	"muster/regress/internal/align"
)

// A Span is a range of bytes.
type Span struct{ From, To int }

// A Change is one difference of two documents. Outside all changes, the texts are equal.
type Change struct {
	Path     string
	Old, Now Span
	// The values that differ, at least one: two for a value that changed, and for values that came or went
	// those. Both are empty if only whitespace and commas between values differ.
	OldValues, NowValues []Node
	// IsValue says that one value became another. Otherwise items of a container came or went, which may be
	// lines of messages.
	IsValue, AreLines bool
	IsOrder           bool // the items are the same in another order
	// Record is the number of the record that the change is in: the innermost element of a list of several.
	Record int
}

// stepsMax bounds the edit scripts between the items of two containers.
const stepsMax = 800

// Compare calls visit for each change between two documents, in order.
func Compare(old, now []byte, a, b *Node, l *align.Aligner[uint64], visit func(Change)) {
	c := comparer{old: old, now: now, aligner: l, visit: visit, record: 1, records: 1}
	c.compareItems(a, b, "$")
}

type comparer struct {
	old, now []byte
	aligner  *align.Aligner[uint64]
	visit    func(Change)

	record, records int // where it is, and how many there were
}

func (c *comparer) compare(a, b *Node, at path) {
	switch {
	case bytes.Equal(c.old[a.From:a.To], c.now[b.From:b.To]):
	case a.Kind == b.Kind && a.IsContainer():
		c.compareItems(a, b, at)
	default:
		c.visit(Change{
			Path: string(at), Old: Span{a.From, a.To}, Now: Span{b.From, b.To}, OldValues: []Node{*a}, NowValues: []Node{*b},
			IsValue: true, Record: c.record,
		})
	}
}

// compareItems compares the items of two containers of one kind, and what is between them.
func (c *comparer) compareItems(a, b *Node, at path) {
	x, y := a.From, b.From // what is before them is done
	i, j := 0, 0
	behind := func(nextI, nextJ, endX, endY int) {
		if !bytes.Equal(c.old[x:endX], c.now[y:endY]) {
			u, v := a.Items[i:nextI], b.Items[j:nextJ]
			c.visit(Change{
				Path: string(at), Old: Span{x, endX}, Now: Span{y, endY}, OldValues: u, NowValues: v,
				AreLines: a.Kind == Messages, IsOrder: areReordered(u, v), Record: c.newRecord(a, b, slices.Concat(u, v)),
			})
		}
	}
	for _, p := range c.pairs(a, b) {
		u, v := &a.Items[p.i], &b.Items[p.j]
		behind(p.i, p.j, u.From, v.From)
		next := at
		if a.Kind > Messages {
			next = at.to(u)
		}
		outer := c.record
		c.record = c.newRecord(a, b, a.Items[p.i:p.i+1])
		c.compare(u, v, next)
		c.record = outer
		x, y, i, j = u.To, v.To, p.i+1, p.j+1
	}
	behind(len(a.Items), len(b.Items), a.To, b.To)
}

// newRecord returns the number of the record of items. Items begin a new record if they are elements of a list of
// several and contain other values.
func (c *comparer) newRecord(a, b *Node, items []Node) int {
	isContainer := func(n Node) bool { return n.IsContainer() }
	if a.Kind == Object || max(len(a.Items), len(b.Items)) == 1 || !slices.ContainsFunc(items, isContainer) {
		return c.record
	}
	c.records++
	return c.records
}

// A pair is an item of each side that are compared.
type pair struct{ i, j int }

// pairs returns the items to compare: by key, by content, or by similarity between such pairs. Tuples are paired by
// position.
func (c *comparer) pairs(a, b *Node) (list []pair) {
	if a.isTuple() && b.isTuple() && len(a.Items) == len(b.Items) {
		for i := range a.Items {
			list = append(list, pair{i, i})
		}
		return list
	}
	keyOf := func(n *Node) uint64 { return sum(seed, n.Key) }
	if from, to := sameEnds(a, b, keyOf); areReordered(a.Items[from:len(a.Items)-to], b.Items[from:len(b.Items)-to]) {
		for i := range from {
			list = append(list, pair{i, i})
		}
		for i := len(a.Items) - to; i < len(a.Items); i++ {
			list = append(list, pair{i, i})
		}
		return list
	}
	if a.Kind == Object {
		c.align(a.Items, b.Items, keyOf, func(k align.Block) {}, func(i, j int) { list = append(list, pair{i, j}) })
		return list
	}
	contentOf := func(n *Node) uint64 { return n.content }
	shapeOf := func(n *Node) uint64 { return n.shape }
	c.align(a.Items, b.Items, contentOf, func(k align.Block) {
		c.align(a.Items[k.A0:k.A1], b.Items[k.B0:k.B1], shapeOf, func(r align.Block) {
			x, y := a.Items[k.A0+r.A0:k.A0+r.A1], b.Items[k.B0+r.B0:k.B0+r.B1]
			if a.Kind == Values && len(x) == 1 && len(y) == 1 { // one document
				list = append(list, pair{k.A0 + r.A0, k.B0 + r.B0})
				return
			}
			for _, p := range c.alike(x, y) {
				list = append(list, pair{k.A0 + r.A0 + p.i, k.B0 + r.B0 + p.j})
			}
		}, func(i, j int) { list = append(list, pair{k.A0 + i, k.B0 + j}) })
	}, func(i, j int) { list = append(list, pair{i, j}) })
	return list
}

// sameEnds returns how many items at both ends have one key, or in a list one content.
func sameEnds(a, b *Node, keyOf func(*Node) uint64) (from, to int) {
	areSame := func(x, y *Node) bool {
		if a.Kind == Object {
			return keyOf(x) == keyOf(y)
		}
		return x.content == y.content
	}
	n, m := len(a.Items), len(b.Items)
	for from < min(n, m) && areSame(&a.Items[from], &b.Items[from]) {
		from++
	}
	for from+to < min(n, m) && areSame(&a.Items[n-1-to], &b.Items[m-1-to]) {
		to++
	}
	return from, to
}

// areReordered reports whether two or more items are the same in another order. Lists of numbers never count as
// reordered, because the place of a number usually matters.
func areReordered(a, b []Node) bool {
	if len(a) < 2 || len(a) != len(b) {
		return false
	}
	count := make(map[uint64]int, len(a))
	for i := range a {
		if a[i].Kind == Literal && a[i].Key == nil {
			return false
		}
		count[sum(a[i].content, a[i].Key)]++
	}
	for i := range b {
		id := sum(b[i].content, b[i].Key)
		if count[id]--; count[id] < 0 {
			return false
		}
	}
	return true
}

// align aligns items by a key. It calls differ for each block in which they differ, and same for each pair
// between, in order.
func (c *comparer) align(a, b []Node, keyOf func(*Node) uint64, differ func(align.Block), same func(i, j int)) {
	keys := func(items []Node) (list []uint64) {
		for i := range items {
			list = append(list, keyOf(&items[i]))
		}
		return list
	}
	i, j := 0, 0
	for _, k := range append(c.aligner.Blocks(keys(a), keys(b), stepsMax), align.Range(len(a), len(a), len(b), len(b))) {
		for ; i < k.A0; i, j = i+1, j+1 {
			same(i, j)
		}
		if k.A0 < k.A1 || k.B0 < k.B1 {
			differ(k)
		}
		i, j = k.A1, k.B1
	}
}

var space = []byte(" ")

// productMax bounds the pairs of items that are weighed. Of more, those with one name are taken, and between
// these the ones at one place.
const productMax = 4096

// alike returns the longest sequence of pairs of alike items.
func (c *comparer) alike(a, b []Node) (list []pair) {
	n, m := len(a), len(b)
	if n*m > productMax {
		weigh := func(i, j int) {
			if c.areAlike(&a[i], &b[j]) {
				list = append(list, pair{i, j})
			}
		}
		c.align(a, b, nameOf(a, b), func(k align.Block) {
			for i := range min(k.A1-k.A0, k.B1-k.B0) {
				weigh(k.A0+i, k.B0+i)
			}
		}, weigh)
		return list
	}
	longest := make([][]int, n+1) // of the items from a place on
	longest[n] = make([]int, m+1)
	for i := n - 1; i >= 0; i-- {
		longest[i] = make([]int, m+1)
		for j := m - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if c.areAlike(&a[i], &b[j]) {
				longest[i][j] = max(longest[i][j], 1+longest[i+1][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case longest[i][j] == longest[i+1][j]:
			i++
		case longest[i][j] == longest[i][j+1]:
			j++
		default:
			list = append(list, pair{i, j})
			i, j = i+1, j+1
		}
	}
	return list
}

// nameOf returns the function that identifies an object: by the member that has the most strings in common on both
// sides.
func nameOf(a, b []Node) func(*Node) uint64 {
	known, shared, best := map[uint64]bool{}, map[string]int{}, ""
	each := func(items []Node, visit func(key []byte, id uint64)) {
		for i := range items {
			for _, x := range items[i].Items {
				if x.Kind >= String && x.Kind < Literal && x.Key != nil {
					visit(x.Key, sum(x.content, x.Key))
				}
			}
		}
	}
	each(a, func(_ []byte, id uint64) { known[id] = true })
	each(b, func(key []byte, id uint64) {
		if known[id] {
			known[id] = false
			if shared[string(key)]++; shared[string(key)] > shared[best] {
				best = string(key)
			}
		}
	})
	return func(n *Node) uint64 {
		for i := range n.Items {
			if x := &n.Items[i]; x.Key != nil && string(x.Key) == best {
				return x.content
			}
		}
		return n.content
	}
}

// areAlike reports whether two items may be one that changed:
//   - Lines must begin with the same word.
//   - Objects with up to fewMembers members must have half of them equal, or all strings.
//   - Larger objects must have three quarters equal, or half and the first string, which usually identifies the
//     object. Half alone may be usual values.
func (c *comparer) areAlike(a, b *Node) bool {
	switch {
	case a.Kind != b.Kind:
		return false
	case a.Kind == Sentence:
		first, _, _ := bytes.Cut(c.old[a.From:a.To], space)
		second, _, _ := bytes.Cut(c.now[b.From:b.To], space)
		return bytes.Equal(first, second)
	case a.Kind != Object:
		return true
	}
	if c.aligner.Work -= len(a.Items) + len(b.Items); c.aligner.Work < 0 {
		return false
	}
	members := map[string]uint64{}
	for i := range a.Items {
		members[string(a.Items[i].Key)] = a.Items[i].content
	}
	same, sameStrings, otherStrings := 0, 0, 0
	for i := range b.Items {
		content, known := members[string(b.Items[i].Key)]
		isSame, isString := known && content == b.Items[i].content, b.Items[i].Kind == String
		switch {
		case isSame && isString:
			sameStrings++
			fallthrough
		case isSame:
			same++
		case isString:
			otherStrings++
		}
	}
	switch n := max(len(a.Items), len(b.Items)); {
	case n <= fewMembers && len(a.Items) == len(b.Items) && sameStrings > 0 && otherStrings == 0:
		return true
	case n <= fewMembers || 4*same >= 3*n:
		return 2*same >= n
	default:
		x, y := firstString(a), firstString(b)
		return 2*same >= n && x != nil && y != nil && x.content == y.content
	}
}

// fewMembers is the size up to which an object is recognised without its first string.
const fewMembers = 4

// firstString returns the first member of an object that is a string, or nil.
func firstString(n *Node) *Node {
	for i := range n.Items {
		if kind := n.Items[i].Kind; kind == String || kind == Sentence {
			return &n.Items[i]
		}
	}
	return nil
}
