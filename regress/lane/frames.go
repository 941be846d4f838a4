package lane

import (
	"encoding/binary"
	"errors"
	"io"
)

// A frame is a length (4 bytes, little endian) and a message of that length. A Setup grows
// with the number of given files, about 100 bytes each. An Answer grows with the number of
// files that a case left.
const (
	headerBytes   = 4
	frameBytesMax = 1 << 30
)

var errDamaged = errors.New("damaged message")

// beginFrame leaves space for the header in buf, whose memory is reused.
func beginFrame(buf []byte) []byte { return append(buf[:0], 0, 0, 0, 0) }

// endFrame fills in the header of a message that beginFrame began.
func endFrame(b []byte) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-headerBytes))
	return b
}

// Frames reads messages from a stream. One read takes everything that has come. The zero value
// is ready.
type Frames struct {
	buf      []byte
	filled   int // bytes in buf
	returned int // bytes of the message that Next returned last
}

// bufferBytesMin holds nearly every message. A buffer above bufferBytesKept is not kept for
// the next message: a helper's memory is the floor of what can be measured of a case.
const (
	bufferBytesMin  = 4 << 10
	bufferBytesKept = 64 << 10
)

// Next returns the next message, which is valid until Next is called again. The stream's end
// between two messages is io.EOF, and within one io.ErrUnexpectedEOF. A header with a false
// length costs no memory: the buffer grows with the data that has come.
func (f *Frames) Next(read func([]byte) (int, error)) ([]byte, error) {
	f.filled, f.returned = copy(f.buf, f.buf[f.returned:f.filled]), 0
	if f.buf == nil || f.filled == 0 && len(f.buf) > bufferBytesKept {
		f.buf = make([]byte, bufferBytesMin)
	}
	for {
		size, known, err := f.size()
		switch {
		case err != nil:
			return nil, err
		case known && f.filled >= size:
			f.returned = size
			return f.buf[headerBytes:size], nil
		case f.filled == len(f.buf):
			f.grow(size)
		}
		n, err := read(f.buf[f.filled:])
		f.filled += n
		if err == io.EOF && f.filled > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && n == 0 {
			return nil, err
		}
	}
}

// size returns the length of the present frame with its header, if that has come.
func (f *Frames) size() (size int, known bool, err error) {
	if f.filled < headerBytes {
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
