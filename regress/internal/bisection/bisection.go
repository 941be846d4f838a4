// Package bisection tells from what versions of a tool showed, in their order, which of
// them brought something, took it away, and brought it again.
//
// A search that halves needs less, and is wrong of what came and went: between two versions
// that show the same it sees nothing. So every version is asked, once; Order has those
// first that tell most, for somebody who does not wait for all.
//
// It is pure: no disk, clock, network or process. It must not know what is searched for.
package bisection

// State says what a version showed.
type State int

// The states, a closed set.
const (
	NotAsked State = iota
	Untold         // it was asked, and what it answers tells nothing: it failed in another way
	Absent
	Shown
)

// Order returns the numbers from 0 to n-1, the last and the first before the middle, that
// before the middles of both halves, and so on.
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

// A Change is a version that brought something, or took it away.
type Change struct {
	Version int
	Came    bool // else it went
	After   int  // the last version before it that is known to be without the change
}

// Sure reports whether no version lies between that could have done it too.
func (c Change) Sure() bool { return c.After == c.Version-1 }

// Changes returns what happened from version to version, in order, and the first version
// that told anything; -1 if none did.
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

// A Stretch is some versions in a row of one state.
type Stretch struct {
	From, To int // the last one included
	State    State
}

// Stretches returns all versions in as few stretches as there can be.
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
