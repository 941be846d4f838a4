// Package bisection finds the versions of a tool that brought a property, took it away, or brought
// it again. Its input is the states of the versions in order.
//
// A binary search needs fewer tests, and misses what came and went between two versions in the same
// state. So every version is tested once. Order puts the most informative versions first, for
// people who do not wait for all.
//
// It is pure: no disk, clock, network or process. It must not know the property.
package bisection

// State is the result of testing a version.
type State int

// The states, a closed set.
const (
	NotAsked     State = iota
	Inconclusive       // tested without a result: it failed in another way
	Absent
	Shown
)

// Order returns the numbers from 0 to n-1: the last and the first, then the middle, then the
// middles of both halves, and so on.
func Order(n int) []int {
	if n == 0 {
		return nil
	}
	order := []int{n - 1}
	if n > 1 {
		order = append(order, 0)
	}
	gaps := [][2]int{{0, n - 1}}
	for len(gaps) > 0 {
		from, to := gaps[0][0], gaps[0][1]
		gaps = gaps[1:]
		if to-from < 2 {
			continue
		}
		middle := (from + to) / 2
		order = append(order, middle)
		gaps = append(gaps, [2]int{from, middle}, [2]int{middle, to})
	}
	return order
}

// A Change is a version that brought the property, or took it away.
type Change struct {
	Version int
	Came    bool // false: it went
	After   int  // the last earlier version that is known to be without the change
}

// Sure reports whether no version between could have made the change.
func (c Change) Sure() bool { return c.After == c.Version-1 }

// Changes returns the changes in order, and the first version with a result, or -1.
func Changes(states []State) (list []Change, oldest int) {
	oldest, last := -1, -1
	for i, s := range states {
		if s != Absent && s != Shown {
			continue
		}
		if last < 0 {
			oldest = i
		} else if s != states[last] {
			list = append(list, Change{Version: i, Came: s == Shown, After: last})
		}
		last = i
	}
	return list, oldest
}

// A Stretch is a sequence of versions with one state.
type Stretch struct {
	From, To int // inclusive
	State    State
}

// Stretches divides all versions into as few stretches as possible.
func Stretches(states []State) (list []Stretch) {
	for i, s := range states {
		if n := len(list); n > 0 && list[n-1].State == s {
			list[n-1].To = i
		} else {
			list = append(list, Stretch{i, i, s})
		}
	}
	return list
}
