package cause

import "muster/regress/internal/anchor"

// A block is a range of one sequence that differs from a range of the other. Between two blocks the
// sequences are equal.
type block struct{ a0, a1, b0, b1 int }

const (
	depthMax = 12 // nested levels of anchors
	// A part may be compared in workLeast steps, plus workForByte steps for each byte. After that,
	// the rest is replaced as a whole.
	workLeast   = 1 << 23
	workForByte = 16
)

// workFor returns how many steps two contents may be compared in.
func workFor(old, now []byte) int { return workLeast + workForByte*(len(old)+len(now)) }

// A comparer compares sequences of keys, and reuses its memory.
type comparer struct {
	v, trace []int32
	work     int // steps left for the part
}

// compare returns the blocks in which two sequences differ, in order. It finds the shortest edit
// script if that has at most dMax steps. Otherwise it compares the ranges between elements that
// both sequences have exactly once.
func (c *comparer) compare(a, b []uint64, dMax int) []block {
	return c.compareRange(nil, a, b, block{0, len(a), 0, len(b)}, dMax, 0)
}

func (c *comparer) compareRange(found []block, a, b []uint64, r block, dMax, depth int) []block {
	for r.a0 < r.a1 && r.b0 < r.b1 && a[r.a0] == b[r.b0] {
		r.a0, r.b0 = r.a0+1, r.b0+1
	}
	for r.a0 < r.a1 && r.b0 < r.b1 && a[r.a1-1] == b[r.b1-1] {
		r.a1, r.b1 = r.a1-1, r.b1-1
	}
	if r.a0 == r.a1 && r.b0 == r.b1 {
		return found
	}
	if r.a0 == r.a1 || r.b0 == r.b1 || c.work <= 0 {
		return append(found, r)
	}
	if all, ok := c.myers(found, a, b, r, dMax); ok {
		return all
	}
	if depth == depthMax {
		return append(found, r)
	}
	c.work -= r.a1 - r.a0 + r.b1 - r.b0
	anchors := anchor.Between(a[r.a0:r.a1], b[r.b0:r.b1])
	if len(anchors) == 0 {
		return append(found, r)
	}
	next := r
	for _, p := range anchors {
		next.a1, next.b1 = r.a0+p.Old, r.b0+p.Now
		found = c.compareRange(found, a, b, next, dMax, depth+1)
		next.a0, next.b0 = next.a1+1, next.b1+1
	}
	next.a1, next.b1 = r.a1, r.b1
	return c.compareRange(found, a, b, next, dMax, depth+1)
}

// myers appends the blocks of a shortest edit script, if it has at most dMax steps.
func (c *comparer) myers(found []block, a, b []uint64, r block, dMax int) ([]block, bool) {
	n, m := r.a1-r.a0, r.b1-r.b0
	a, b = a[r.a0:r.a1], b[r.b0:r.b1]
	dMax = min(dMax, n+m)
	off := dMax + 1
	if size := 2*dMax + 3; cap(c.v) < size {
		c.v = make([]int32, size)
	}
	v := c.v[:2*dMax+3]
	clear(v)
	c.trace = c.trace[:0]
	for d := 0; d <= dMax; d++ {
		for k := -d + 2*max(0, d-m); k <= d-2*max(0, d-n); k += 2 {
			x := v[off+k+1]
			if k != -d && (k == d || v[off+k-1] >= x) {
				x = v[off+k-1] + 1
			}
			at := int(x)
			for at < n && at-k < m && a[at] == b[at-k] {
				at++
			}
			c.work -= at - int(x) + 1
			v[off+k] = int32(at)
			if at == n && at-k == m {
				return c.walkBack(found, r, d, k), true
			}
		}
		if c.work <= 0 {
			return found, false
		}
		for k := -d; k <= d; k += 2 {
			c.trace = append(c.trace, v[off+k])
		}
	}
	return found, false
}

// walkBack follows the path that reached diagonal k after d steps, from its end.
func (c *comparer) walkBack(found []block, r block, d, k int) []block {
	first := len(found)
	for ; d > 0; d-- {
		row := c.trace[d*(d-1)/2:][:d] // after d-1 steps: diagonals 1-d … d-1
		at := func(k int) int { return int(row[(k+d-1)/2]) }
		pk := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			pk = k + 1
		}
		i, j := r.a0+at(pk), r.b0+at(pk)-pk
		found = prependStep(found, first, block{i, i + max(0, k-pk), j, j + max(0, pk-k)})
		k = pk
	}
	for i, j := first, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	return found
}

// prependStep joins a step to the block that it touches, or begins a block.
func prependStep(found []block, first int, s block) []block {
	if last := len(found) - 1; last >= first && found[last].a0 == s.a1 && found[last].b0 == s.b1 {
		found[last].a0, found[last].b0 = s.a0, s.b0
		return found
	}
	return append(found, s)
}

// pairMax bounds the pairs of lines that keepLines compares in a hunk.
const pairMax = 1600

// keepLines returns the blocks of a comparison line by line, if the blocks pair tokens of different
// lines, and the edits become no longer. Of edits that are equally long, people make those that stay in
// their lines. x and y are the indexes of the tokens that begin lines, and of the last one.
//
// It looks for the cheapest way to pair lines in order, as for the edit distance of two texts whose
// letters are lines (Wagner and Fischer, 1974).
func (c *comparer) keepLines(blocks []block, a, b []uint64, x, y []int, dMax int) []block {
	n, m := len(x)-1, len(y)-1
	if n < 2 || m < 2 || n*m > pairMax || !crossLines(blocks, x, y) {
		return blocks
	}
	cost := make([]int, (n+1)*(m+1)) // of the lines from i and from j on
	at := func(i, j int) *int { return &cost[i*(m+1)+j] }
	var one []block
	pair := func(i, j int) int {
		one = c.compareRange(one[:0], a, b, block{x[i], x[i+1], y[j], y[j+1]}, dMax, 0)
		return countSteps(one) + *at(i+1, j+1)
	}
	for i := n; i >= 0; i-- {
		for j := m; j >= 0; j-- {
			switch {
			case i == n:
				*at(i, j) = y[m] - y[j]
			case j == m:
				*at(i, j) = x[n] - x[i]
			default:
				*at(i, j) = min(pair(i, j), *at(i+1, j)+x[i+1]-x[i], *at(i, j+1)+y[j+1]-y[j])
			}
		}
	}
	if *at(0, 0) > countSteps(blocks) {
		return blocks
	}
	blocks = blocks[:0]
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case i < n && j < m && *at(i, j) == pair(i, j):
			blocks = append(blocks, one...)
			i, j = i+1, j+1
		case i < n && *at(i, j) == *at(i+1, j)+x[i+1]-x[i]:
			blocks = append(blocks, block{x[i], x[i+1], y[j], y[j]})
			i++
		default:
			blocks = append(blocks, block{x[i], x[i], y[j], y[j+1]})
			j++
		}
	}
	return joinTouching(blocks)
}

// joinTouching makes one block of blocks between which no token is equal.
func joinTouching(blocks []block) []block {
	out := blocks[:0]
	for _, b := range blocks {
		if last := len(out) - 1; last >= 0 && out[last].a1 == b.a0 && out[last].b1 == b.b0 {
			out[last].a1, out[last].b1 = b.a1, b.b1
			continue
		}
		out = append(out, b)
	}
	return out
}

// crossLines reports whether a token that is equal on both sides is in another line there.
func crossLines(blocks []block, x, y []int) bool {
	i, line, other := 0, 0, 0
	shift := 0
	for at := range x[len(x)-1] {
		for ; i < len(blocks) && blocks[i].a1 <= at; i++ {
			shift = blocks[i].b1 - blocks[i].a1
		}
		if i < len(blocks) && at >= blocks[i].a0 {
			continue // removed
		}
		for x[line+1] <= at {
			line++
		}
		for y[other+1] <= at+shift {
			other++
		}
		if line != other {
			return true
		}
	}
	return false
}

// countSteps returns how many tokens blocks remove and add.
func countSteps(blocks []block) (n int) {
	for _, b := range blocks {
		n += b.a1 - b.a0 + b.b1 - b.b0
	}
	return n
}
