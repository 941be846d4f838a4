package tree

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// besides returns what a Directory's message has beside the entries of f: all are marked that
// it has byte for byte, which in a folder with many headers is nearly every one, and nothing
// is made of them.
func (f *Folder) besides(message []byte) (rest [kinds][]node, same []bool, err error) {
	if f == nil {
		rest, err = nodes(message)
		return rest, nil, err
	}
	same = make([]bool, len(f.entries))
	var others []byte
	next := 0 // entry of f that is expected, for both are in order
	for left := message; len(left) > 0; {
		number, _, n := protowire.ConsumeField(left)
		if n < 0 {
			return rest, nil, damaged(protowire.ParseError(n))
		}
		field := left[:n]
		left = left[n:]
		at, found := next, next < len(f.entries) && bytes.Equal(field, f.bytes(next))
		if !found {
			at, found = f.where(number, field)
			found = found && !same[at] && bytes.Equal(field, f.bytes(at))
		}
		if next = at; found {
			same[at] = true
			next++
			continue
		}
		others = append(others, field...)
	}
	rest, err = nodes(others)
	return rest, same, err
}

func (f *Folder) bytes(i int) []byte { return f.message[f.begin(i):f.entries[i].end] }

// where is the entry that has the name of a field, or the one before which it would be.
func (f *Folder) where(number protowire.Number, field []byte) (int, bool) {
	if number > protowire.Number(kinds) {
		return len(f.entries), false
	}
	return f.search(kind(number-1), nameIn(field))
}

// nameIn is the name in a field of a Directory; "", which none has, where it is no such field.
func nameIn(field []byte) string {
	_, _, n := protowire.ConsumeTag(field)
	node, _ := protowire.ConsumeBytes(field[n:])
	for len(node) > 0 {
		number, form, n := protowire.ConsumeField(node)
		if n < 0 {
			return ""
		}
		if number == nameField && form == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(node)
			name, _ := protowire.ConsumeString(node[tag:])
			return name
		}
		node = node[n:]
	}
	return ""
}

// hasSame reports whether something under a name is among those that are the same.
func (f *Folder) hasSame(name string, same []bool) bool {
	if same == nil {
		return false
	}
	for k := range kinds {
		if i, ok := f.search(k, name); ok && same[i] {
			return true
		}
	}
	return false
}
