package hole

// anyLength is the length of a part of a pattern that stands for any number of items.
const anyLength = -1

// fit reports whether n items fit the parts of a pattern. length returns the length of a part.
// fits compares a part of fixed length with the items from at on, which are enough.
//
// Between two parts of any length, the parts are searched from the left. The leftmost place
// suffices: another one leaves less room for the parts that follow.
func fit(parts, n int, length func(part int) int, fits func(part, at int) bool) bool {
	at, head := 0, 0
	for ; head < parts && length(head) != anyLength; head++ {
		if at+length(head) > n || !fits(head, at) {
			return false
		}
		at += length(head)
	}
	if head == parts {
		return at == n
	}
	end, tail := n, parts
	for ; length(tail-1) != anyLength; tail-- {
		if end -= length(tail - 1); end < at || !fits(tail-1, end) {
			return false
		}
	}
	for part := head + 1; part < tail; {
		next, size := part, 0
		for ; length(next) != anyLength; next++ {
			size += length(next)
		}
		for ; !fitAt(part, next, at, end-size, length, fits); at++ {
			if at >= end-size {
				return false
			}
		}
		at, part = at+size, next+1
	}
	return true
}

// fitAt reports whether parts [from, to) fit the items from at on, where at is at most last.
func fitAt(from, to, at, last int, length func(int) int, fits func(int, int) bool) bool {
	if at > last {
		return false
	}
	for ; from < to; from++ {
		if !fits(from, at) {
			return false
		}
		at += length(from)
	}
	return true
}
