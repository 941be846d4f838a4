package bisection_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/bisection"
)

func TestOrder(t *testing.T) {
	for n, want := range [][]int{nil, {0}, {1, 0}, {2, 0, 1}, {3, 0, 1, 2}, {4, 0, 2, 1, 3}} {
		if got := bisection.Order(n); !slices.Equal(got, want) {
			t.Errorf("Order(%d) = %v, want %v", n, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 500).Draw(t, "n")
		order := bisection.Order(n)
		slices.Sort(order)
		for i, v := range order {
			if i != v {
				t.Fatalf("%v", order)
			}
		}
		if len(order) != n {
			t.Fatalf("%d of %d", len(order), n)
		}
	})
}

// states reads a line: + shown, - absent, ? untold, . not asked.
func states(line string) (list []bisection.State) {
	for _, c := range line {
		list = append(list, map[rune]bisection.State{'+': bisection.Shown, '-': bisection.Absent, '?': bisection.Inconclusive, '.': bisection.NotAsked}[c])
	}
	return list
}

func TestChanges(t *testing.T) {
	came := func(version, after int) bisection.Change {
		return bisection.Change{Version: version, Came: true, After: after}
	}
	went := func(version, after int) bisection.Change { return bisection.Change{Version: version, After: after} }
	for _, c := range []struct {
		line   string
		want   []bisection.Change
		oldest int
	}{
		{"", nil, -1},
		{"??.", nil, -1},
		{"+++", nil, 0},
		{"--", nil, 0},
		{"--++", []bisection.Change{came(2, 1)}, 0},
		{"-+-+", []bisection.Change{came(1, 0), went(2, 1), came(3, 2)}, 0},
		{"?-?.+", []bisection.Change{came(4, 1)}, 1},
		{"+?-", []bisection.Change{went(2, 0)}, 0},
	} {
		got, oldest := bisection.Changes(states(c.line))
		if !reflect.DeepEqual(got, c.want) || oldest != c.oldest {
			t.Errorf("%s: %+v, oldest %d; want %+v, %d", c.line, got, oldest, c.want, c.oldest)
		}
		for _, change := range got {
			if change.Sure() != (change.Version == change.After+1) {
				t.Errorf("%s: %+v", c.line, change)
			}
		}
	}
}

// The stretches are the states again, and no two neighbours are alike.
func TestStretches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.SampledFrom(states("+-?."))).Draw(t, "states")
		var got []bisection.State
		for i, s := range bisection.Stretches(want) {
			if i > 0 && got[len(got)-1] == s.State || s.From != len(got) || s.To < s.From {
				t.Fatalf("stretch %d of %v: %+v", i, want, s)
			}
			got = append(got, slices.Repeat([]bisection.State{s.State}, s.To-s.From+1)...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
