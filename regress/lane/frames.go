package lane

import (
	"encoding/binary"
	"errors"
	"io"
)

// A frame is a length (4 bytes, little endian) and a message of that length.
// Setup grows with the number of given files, about 100 bytes each, Done with
// the number of files that a case left.
const (
	headerBytes   = 4
	frameBytesMax = 1 << 30
)

var errDamaged = errors.New("damaged message")

// begin makes room for the header in buf, whose space is used again.
func begin(buf []byte) []byte { return append(buf[:0], 0, 0, 0, 0) }

// frame fills in the header of a message that was begun with begin.
func frame(b []byte) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-headerBytes))
	return b
}

// Frames takes messages from a stream, with one read for all that has come. The
// zero value is ready.
type Frames struct {
	buf  []byte
	have int // bytes in it
	done int // of them, the message that was returned last
}

// Space for nearly every message, and what is kept from one to the next. More
// is given back: the memory of a helper is the floor of what can be told about
// a case.
const (
	bufferBytesMin  = 4 << 10
	bufferBytesKept = 64 << 10
)

// Next returns the next message, which stays as it is until Next is called
// again. Between two messages io.EOF is the stream's end; within one it is
// io.ErrUnexpectedEOF. A header that lies costs no memory: the buffer grows with
// what has come.
func (f *Frames) Next(read func([]byte) (int, error)) ([]byte, error) {
	f.have, f.done = copy(f.buf, f.buf[f.done:f.have]), 0
	if f.buf == nil || f.have == 0 && len(f.buf) > bufferBytesKept {
		f.buf = make([]byte, bufferBytesMin)
	}
	for {
		size, known, err := f.size()
		switch {
		case err != nil:
			return nil, err
		case known && f.have >= size:
			f.done = size
			return f.buf[headerBytes:size], nil
		case f.have == len(f.buf):
			f.grow(size)
		}
		n, err := read(f.buf[f.have:])
		f.have += n
		if err == io.EOF && f.have > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && n == 0 {
			return nil, err
		}
	}
}

// size returns the length of the frame that is being read, header included.
func (f *Frames) size() (size int, known bool, err error) {
	if f.have < headerBytes {
		return 0, false, nil
	}
	n := binary.LittleEndian.Uint32(f.buf)
	if n > frameBytesMax {
		return 0, false, errDamaged
	}
	return headerBytes + int(n), true, nil
}

func (f *Frames) grow(size int) {
	larger := make([]byte, min(size, 2*len(f.buf)))
	copy(larger, f.buf)
	f.buf = larger
}
