package load

import (
	"bytes"
	"math/rand/v2"
)

// content is the content of a load's files. It depends only on the size, so that one load can
// check what another has uploaded, and nothing must be stored. Each body is cut from a circle
// of random bytes, one byte further for each number. The circle's length is prime, so that no
// part of one body equals the same part of another.
type content struct {
	circle []byte // followed by its beginning again, for the longest piece
	size   int64
}

const (
	circleSize = 131_101
	pieceMax   = 256 << 10
)

func newContent(size int64) *content {
	c := &content{circle: make([]byte, circleSize+min(size, pieceMax)), size: size}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range min(circleSize, len(c.circle)) {
		c.circle[i] = byte(r.Uint32())
	}
	for i := circleSize; i < len(c.circle); i++ {
		c.circle[i] = c.circle[i-circleSize]
	}
	return c
}

// piece returns a body's bytes from an offset: all up to its end, or the longest possible
// piece.
func (c *content) piece(number int, from int64) []byte {
	at := (int64(number) + from) % circleSize
	return c.circle[at : at+min(c.size-from, pieceMax)]
}

// has reports whether a body has these bytes at an offset.
func (c *content) has(number int, from int64, data []byte) bool {
	if from+int64(len(data)) > c.size {
		return false
	}
	for len(data) > 0 {
		p := c.piece(number, from)
		p = p[:min(len(p), len(data))]
		if !bytes.Equal(p, data[:len(p)]) {
			return false
		}
		from, data = from+int64(len(p)), data[len(p):]
	}
	return true
}
