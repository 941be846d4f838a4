package golden

import (
	"encoding/binary"

	"muster/regress/internal/outcome"
)

// decoder takes values from the front of a record. If the record is too short, it
// sets short, and all further values are zero.
type decoder struct {
	rest  []byte
	short bool
}

func (d *decoder) bytes(n uint64) []byte {
	if d.short || n > uint64(len(d.rest)) {
		d.short, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	b := d.bytes(1)
	if d.short {
		return 0
	}
	return b[0]
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.short, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.short, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// times yields as often as the next number says, until the record turns out to be too short.
func (d *decoder) times(yield func() bool) {
	for range d.uvarint() {
		if d.short || !yield() {
			return
		}
	}
}

func (d *decoder) digest() (digest outcome.Digest) {
	copy(digest[:], d.bytes(uint64(len(digest))))
	return digest
}
