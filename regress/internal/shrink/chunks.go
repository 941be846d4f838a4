package shrink

import "bytes"

// chunks removes pieces: many at once at first, then ever fewer. It starts with half of the pieces,
// then a quarter, down to single ones. It goes from the end to the beginning, because later code
// mostly uses earlier code.
type chunks struct {
	pieces   [][]byte
	size     int       // pieces at a time
	end      int       // the end of the next chunk
	balances []balance // of the pieces, if only balanced chunks may go; otherwise nil
}

// newChunks returns the first step, or nil for a single piece.
func newChunks(pieces [][]byte, balanced bool) step {
	kept := pieces[:0:0]
	for _, p := range pieces {
		if len(p) > 0 {
			kept = append(kept, p)
		}
	}
	if len(kept) < 2 {
		return nil
	}
	c := chunks{pieces: kept, size: (len(kept) + 1) / 2, end: len(kept)}
	if balanced {
		for _, p := range kept {
			c.balances = append(c.balances, balanceOf(p))
		}
	}
	return c.nextAllowed()
}

func (c chunks) from() int { return max(0, c.end-c.size) }

func (c chunks) candidate() []byte { return bytes.Join(c.without(), nil) }

func (c chunks) without() [][]byte {
	rest := make([][]byte, 0, len(c.pieces))
	return append(append(rest, c.pieces[:c.from()]...), c.pieces[c.end:]...)
}

func (c chunks) next(shows bool) step {
	from := c.from()
	if shows {
		if c.balances != nil {
			rest := make([]balance, 0, len(c.pieces))
			c.balances = append(append(rest, c.balances[:from]...), c.balances[c.end:]...)
		}
		c.pieces = c.without()
	}
	c.end = from
	return c.nextAllowed()
}

// nextAllowed goes on to the next chunk that may go.
func (c chunks) nextAllowed() step {
	for {
		switch {
		case len(c.pieces) < 2:
			return nil
		case c.end > 0 && c.mayGo():
			return c
		case c.end > 0:
			c.end = c.from()
		case c.size == 1:
			return nil
		default:
			c.size, c.end = min((c.size+1)/2, len(c.pieces)-1), len(c.pieces)
		}
	}
}

// mayGo reports whether the chunk is balanced, and not the whole source.
func (c chunks) mayGo() bool {
	if c.end-c.from() == len(c.pieces) {
		return false
	}
	if c.balances == nil {
		return true
	}
	var sum balance
	for _, b := range c.balances[c.from():c.end] {
		sum = sum.plus(b)
	}
	return sum == balance{}
}

func (c chunks) part() float64 { return 1 - float64(c.end)/float64(max(1, len(c.pieces))) }
