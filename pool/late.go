package pool

import "sort"

// A late value was submitted while the queue was full. Its producer waits until it is queued.
type late[T any] struct {
	value  T
	number uint64    // counts the late values that came before
	woken  chan bool // wakes the producer; nil when the producer has left
}

// A line holds late values in the order in which they came. The pool's mutex guards it.
type line[T any] struct {
	ring[late[T]]
	came uint64 // late values so far
	gone int    // values in the ring whose producers have left
}

// lineMin is the least number of places in a line's ring.
const lineMin = 64

func (l *line[T]) empty() bool { return l.count == l.gone }

// add puts v at the end and returns its number.
func (l *line[T]) add(v T, woken chan bool) (number uint64) {
	if l.count == len(l.places) {
		l.resize()
	}
	number = l.came
	l.came++
	l.push(late[T]{v, number, woken})
	return number
}

// next takes out the first value whose producer has not left. The caller has made sure that
// there is one.
func (l *line[T]) next() late[T] {
	v := l.pop()
	for v.woken == nil {
		l.gone--
		v = l.pop()
	}
	l.compact()
	return v
}

// leave removes the value with the given number, and reports whether it was still there.
func (l *line[T]) leave(number uint64) bool {
	i := sort.Search(l.count, func(i int) bool { return l.at(i).number >= number })
	if i == l.count || l.at(i).number != number || l.at(i).woken == nil {
		return false
	}
	*l.at(i) = late[T]{number: number}
	for l.gone++; l.count > 0 && l.at(l.count-1).woken == nil; l.gone-- {
		l.count-- // who came last often leaves first
	}
	l.compact()
	return true
}

// compact makes the ring smaller when few of its places are in use.
func (l *line[T]) compact() {
	if len(l.places) > lineMin && 8*(l.count-l.gone) <= len(l.places) {
		l.resize()
	}
}

// resize makes a ring with twice as many places as values, without those whose producers have
// left.
func (l *line[T]) resize() {
	old := l.ring
	l.ring, l.gone = ring[late[T]]{places: make([]late[T], max(lineMin, 2*(l.count-l.gone)))}, 0
	for i := range old.count {
		if v := *old.at(i); v.woken != nil {
			l.push(v)
		}
	}
}
