package tree

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// differing returns, as a message, the entries of a Directory that differ from those of f. It
// marks the entries of f that are equal byte for byte. In a folder with many headers nearly all
// are, and none of them is decoded. It returns an invalid message as it is.
func (f *Folder) differing(message []byte) (rest []byte, unchanged []bool) {
	if f == nil {
		return message, nil
	}
	unchanged = make([]bool, len(f.entries))
	next := 0 // the expected entry of f, because both are in order
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

// where returns the index of the entry with the name of a field, or of the entry before which
// it would be.
func (f *Folder) where(number protowire.Number, field []byte) (int, bool) {
	_, form, n := protowire.ConsumeTag(field)
	if number > protowire.Number(kinds) || form != protowire.BytesType {
		return len(f.entries), false
	}
	message, _ := protowire.ConsumeBytes(field[n:]) // the length was checked before
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

// hasUnchanged reports whether an entry below a name is marked.
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
