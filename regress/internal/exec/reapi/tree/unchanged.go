package tree

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// differing returns what a Directory has beside the entries of f, as a message, and marks those
// entries that it has byte for byte: in a folder with many headers that is nearly every one,
// and nothing is made of them. What is no message is returned as it is.
func (f *Folder) differing(message []byte) (rest []byte, unchanged []bool) {
	if f == nil {
		return message, nil
	}
	unchanged = make([]bool, len(f.entries))
	next := 0 // entry of f that is expected, for both are in order
	for left := message; len(left) > 0; {
		number, _, n := protowire.ConsumeField(left)
		if n < 0 {
			return message, nil
		}
		field := left[:n]
		left = left[n:]
		at, found := next, next < len(f.entries) && bytes.Equal(field, f.bytes(next))
		if !found {
			at, found = f.where(number, field)
			found = found && bytes.Equal(field, f.bytes(at))
		}
		if next = at; found && !unchanged[at] {
			unchanged[at] = true
			next++
			continue
		}
		rest = append(rest, field...)
	}
	return rest, unchanged
}

func (f *Folder) bytes(i int) []byte { return f.message[f.begin(i):f.entries[i].end] }

// where is the entry that has the name of a field, or the one before which it would be.
func (f *Folder) where(number protowire.Number, field []byte) (int, bool) {
	_, form, n := protowire.ConsumeTag(field)
	if number > protowire.Number(kinds) || form != protowire.BytesType {
		return len(f.entries), false
	}
	message, _ := protowire.ConsumeBytes(field[n:]) // it was measured
	var name string
	err := Fields(message, func(inner protowire.Number, b []byte, _ uint64) error {
		if inner == nameField {
			name = string(b)
		}
		return nil
	})
	if err != nil {
		return len(f.entries), false
	}
	return f.search(kind(number-1), name)
}

// hasUnchanged reports whether something under a name is among those that are marked.
func (f *Folder) hasUnchanged(name string, unchanged []bool) bool {
	if unchanged == nil {
		return false
	}
	for k := range kinds {
		if i, ok := f.search(k, name); ok && unchanged[i] {
			return true
		}
	}
	return false
}
