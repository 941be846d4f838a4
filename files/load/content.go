package load

import (
	"bytes"
	"math/rand/v2"
)

// content is what the files of a load have in them. It is the same for every load of that
// size, so that what one has uploaded another can compare, and nothing has to be kept:
// each body is cut out of one circle of random bytes, a byte further on for the next
// number. The length of the circle is prime, so that no part of a body that was taken for
// another, of whatever length, is the same as that.
type content struct {
	circle []byte // and its beginning again, for the longest piece
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

// piece returns what body number has from a byte on: all up to its end, or the longest
// piece that there is in one.
func (c *content) piece(number int, from int64) []byte {
	at := (int64(number) + from) % circleSize
	return c.circle[at : at+min(c.size-from, pieceMax)]
}

// has reports whether body number has these bytes from a byte on.
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
