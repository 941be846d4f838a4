// Package align finds the ranges in which two sequences differ: lines, tokens or bytes. It finds the
// shortest edit script if that has few steps. Otherwise it divides the sequences at anchors: elements that
// occur exactly once in both.
//
// Its time is bounded. Beyond the bound, what is left is one range. It is pure, and knows nothing of
// texts: callers make the elements.
package align

import "slices"

// A Block is a range of one sequence that differs from a range of the other: [A0, A1) and [B0, B1).
// Between two blocks the sequences are equal.
type Block struct{ A0, A1, B0, B1 int }

// Range returns the block of two ranges.
func Range(a0, a1, b0, b1 int) Block { return Block{a0, a1, b0, b1} }

// IsPure reports whether a block only removes or only adds.
func (b Block) IsPure() bool { return b.A0 == b.A1 || b.B0 == b.B1 }

// IsPair reports whether a block replaces one element by one.
func (b Block) IsPair() bool { return b.A1-b.A0 == 1 && b.B1-b.B0 == 1 }

// Excess returns how many more elements one side has than the other.
func (b Block) Excess() int {
	n := b.A1 - b.A0 - (b.B1 - b.B0)
	return max(n, -n)
}

// Moved returns the block further on in both sequences.
func (b Block) Moved(by int) Block { return Block{b.A0 + by, b.A1 + by, b.B0 + by, b.B1 + by} }

// Steps returns how many elements Blocks remove and add.
func Steps(blocks []Block) (n int) {
	for _, b := range blocks {
		n += b.A1 - b.A0 + b.B1 - b.B0
	}
	return n
}

// depthMax is the number of nested levels of anchors.
const depthMax = 12

// An Aligner aligns sequences of K, and reuses its memory. One goroutine uses it.
type Aligner[K comparable] struct {
	Work int // steps that are left; without any, what differs is one block

	v, trace []int32
}

// Blocks returns the blocks in which two sequences differ, in order. It finds the shortest edit script
// if that has at most most steps. Otherwise it aligns the ranges between anchors.
func (l *Aligner[K]) Blocks(a, b []K, most int) []Block {
	return l.Append(nil, a, b, Block{0, len(a), 0, len(b)}, most)
}

// Append appends the blocks of a range, as Blocks does.
func (l *Aligner[K]) Append(found []Block, a, b []K, r Block, most int) []Block {
	return l.appendRange(found, a, b, r, most, 0)
}

// IsShort reports whether an edit script of at most most steps exists.
func (l *Aligner[K]) IsShort(a, b []K, most int) bool {
	_, is := l.shortest(nil, a, b, Block{0, len(a), 0, len(b)}, most)
	return is
}

func (l *Aligner[K]) appendRange(found []Block, a, b []K, r Block, most, depth int) []Block {
	for r.A0 < r.A1 && r.B0 < r.B1 && a[r.A0] == b[r.B0] {
		r.A0, r.B0 = r.A0+1, r.B0+1
	}
	for r.A0 < r.A1 && r.B0 < r.B1 && a[r.A1-1] == b[r.B1-1] {
		r.A1, r.B1 = r.A1-1, r.B1-1
	}
	if r.A0 == r.A1 && r.B0 == r.B1 {
		return found
	}
	if r.A0 == r.A1 || r.B0 == r.B1 || l.Work <= 0 {
		return append(found, r)
	}
	if all, ok := l.shortest(found, a, b, r, most); ok {
		return all
	}
	if depth == depthMax {
		return append(found, r)
	}
	l.Work -= r.A1 - r.A0 + r.B1 - r.B0
	shared := anchors(a[r.A0:r.A1], b[r.B0:r.B1])
	if len(shared) == 0 {
		return append(found, r)
	}
	next := r
	for _, p := range shared {
		next.A1, next.B1 = r.A0+p.old, r.B0+p.now
		found = l.appendRange(found, a, b, next, most, depth+1)
		next.A0, next.B0 = next.A1+1, next.B1+1
	}
	next.A1, next.B1 = r.A1, r.B1
	return l.appendRange(found, a, b, next, most, depth+1)
}

// shortest appends the blocks of a shortest edit script, if that has at most most steps (Myers, 1986).
func (l *Aligner[K]) shortest(found []Block, a, b []K, r Block, most int) ([]Block, bool) {
	n, m := r.A1-r.A0, r.B1-r.B0
	a, b = a[r.A0:r.A1], b[r.B0:r.B1]
	most = min(most, n+m)
	off := most + 1
	if size := 2*most + 3; cap(l.v) < size {
		l.v = make([]int32, size)
	}
	v := l.v[:2*most+3]
	clear(v)
	l.trace = l.trace[:0]
	for d := 0; d <= most; d++ {
		for k := -d + 2*max(0, d-m); k <= d-2*max(0, d-n); k += 2 {
			x := v[off+k+1]
			if k != -d && (k == d || v[off+k-1] >= x) {
				x = v[off+k-1] + 1
			}
			at := int(x)
			for at < n && at-k < m && a[at] == b[at-k] {
				at++
			}
			l.Work -= at - int(x) + 1
			v[off+k] = int32(at)
			if at == n && at-k == m {
				return l.walkBack(found, r, d, k), true
			}
		}
		if l.Work <= 0 {
			return found, false
		}
		for k := -d; k <= d; k += 2 {
			l.trace = append(l.trace, v[off+k])
		}
	}
	return found, false
}

// walkBack follows the path that reached diagonal k after d steps, from its end.
func (l *Aligner[K]) walkBack(found []Block, r Block, d, k int) []Block {
	first := len(found)
	for ; d > 0; d-- {
		row := l.trace[d*(d-1)/2:][:d] // after d-1 steps: diagonals 1-d … d-1
		at := func(k int) int { return int(row[(k+d-1)/2]) }
		pk := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			pk = k + 1
		}
		i, j := r.A0+at(pk), r.B0+at(pk)-pk
		found = prependStep(found, first, Block{i, i + max(0, k-pk), j, j + max(0, pk-k)})
		k = pk
	}
	slices.Reverse(found[first:])
	return found
}

// prependStep joins a step to the block that it touches, or begins a block.
func prependStep(found []Block, first int, s Block) []Block {
	if last := len(found) - 1; last >= first && found[last].A0 == s.A1 && found[last].B0 == s.B1 {
		found[last].A0, found[last].B0 = s.A0, s.B0
		return found
	}
	return append(found, s)
}

const (
	pairMax   = 1600 // pairs of lines that KeepLines compares in a hunk
	keptShare = 8    // it uses at most one in this number of the steps that are left
)

// KeepLines returns the blocks of a comparison line by line, if the blocks pair tokens of different
// lines, and the edits become no longer. Of edits that are equally long, people make those that stay in
// their lines. x and y are the indexes of the tokens that begin lines, and of the last one.
//
// It looks for the cheapest way to pair lines in order, as for the edit distance of two texts whose
// letters are lines (Wagner and Fischer, 1974).
func (l *Aligner[K]) KeepLines(blocks []Block, a, b []K, x, y []int, most int) []Block {
	n, m := len(x)-1, len(y)-1
	if n < 2 || m < 2 || n*m > pairMax || !crossLines(blocks, x, y) {
		return blocks
	}
	spare := l.Work - l.Work/keptShare
	cost := make([]int, (n+1)*(m+1)) // of the lines from i and from j on
	at := func(i, j int) *int { return &cost[i*(m+1)+j] }
	var one []Block
	pair := func(i, j int) int {
		one = l.Append(one[:0], a, b, Block{x[i], x[i+1], y[j], y[j+1]}, most)
		return Steps(one) + *at(i+1, j+1)
	}
	for i := n; i >= 0; i-- {
		for j := m; j >= 0; j-- {
			switch {
			case l.Work < spare:
				return blocks
			case i == n:
				*at(i, j) = y[m] - y[j]
			case j == m:
				*at(i, j) = x[n] - x[i]
			default:
				*at(i, j) = min(pair(i, j), *at(i+1, j)+x[i+1]-x[i], *at(i, j+1)+y[j+1]-y[j])
			}
		}
	}
	if *at(0, 0) > Steps(blocks) {
		return blocks
	}
	blocks = blocks[:0]
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case i < n && j < m && *at(i, j) == pair(i, j):
			blocks = append(blocks, one...)
			i, j = i+1, j+1
		case i < n && *at(i, j) == *at(i+1, j)+x[i+1]-x[i]:
			blocks = append(blocks, Block{x[i], x[i+1], y[j], y[j]})
			i++
		default:
			blocks = append(blocks, Block{x[i], x[i], y[j], y[j+1]})
			j++
		}
	}
	return Join(blocks)
}

// Join makes one block of blocks between which no token is equal.
func Join(blocks []Block) []Block {
	out := blocks[:0]
	for _, b := range blocks {
		if last := len(out) - 1; last >= 0 && out[last].A1 == b.A0 && out[last].B1 == b.B0 {
			out[last].A1, out[last].B1 = b.A1, b.B1
			continue
		}
		out = append(out, b)
	}
	return out
}

// crossLines reports whether a token that is equal on both sides is in another line there.
func crossLines(blocks []Block, x, y []int) bool {
	i, line, other := 0, 0, 0
	shift := 0
	for at := range x[len(x)-1] {
		for ; i < len(blocks) && blocks[i].A1 <= at; i++ {
			shift = blocks[i].B1 - blocks[i].A1
		}
		if i < len(blocks) && at >= blocks[i].A0 {
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
