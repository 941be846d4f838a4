package plan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"muster/regress/internal/plan"
)

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("dir%d/case%d.go", i%7, i)
	}
	return list
}

func choose(t *testing.T, s plan.Selection, list []string) []int {
	t.Helper()
	c, err := s.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return c.Choose(list)
}

func TestChoose(t *testing.T) {
	list := []string{"a.go", "b.c", "d/a.go", "d/x%\n.go"}
	for _, c := range []struct {
		s    plan.Selection
		want []int
	}{
		{plan.Selection{}, []int{0, 1, 2, 3}},
		{plan.Selection{Globs: []string{"*.go"}}, []int{0, 2, 3}},
		{plan.Selection{Globs: []string{"d/*.go", "b.*"}}, []int{1, 2, 3}},
		{plan.Selection{Filters: []string{`\.go$`, "!^d/"}}, []int{0}},
		{plan.Selection{Filters: []string{"%25%0A"}}, []int{3}},
	} {
		if got := choose(t, c.s, list); !slices.Equal(got, c.want) {
			t.Errorf("%+v chose %v, want %v", c.s, got, c.want)
		}
	}
}

// The parts of a partition are disjoint, together everything, and about even.
func TestPartition(t *testing.T) {
	list := names(3000)
	seen := map[int]int{}
	for k := 1; k <= 4; k++ {
		part := choose(t, plan.Selection{Partition: fmt.Sprintf("hash:%d/4", k)}, list)
		if len(part) < 600 || len(part) > 900 {
			t.Errorf("part %d has %d of %d", k, len(part), len(list))
		}
		for _, i := range part {
			seen[i]++
		}
	}
	for i := range list {
		if seen[i] != 1 {
			t.Fatalf("%s is in %d parts", list[i], seen[i])
		}
	}
}

// A sample keeps what it had when other names are added.
func TestSampleIsStable(t *testing.T) {
	list := names(1000)
	few := choose(t, plan.Selection{Sample: 50}, list[:500])
	many := choose(t, plan.Selection{Sample: 50}, list)
	if len(few) != 50 || len(many) != 50 || !slices.IsSorted(many) {
		t.Fatalf("samples of %d and %d", len(few), len(many))
	}
	for _, i := range many {
		if i < 500 && !slices.Contains(few, i) {
			t.Errorf("%s is in the sample of more, not in that of fewer", list[i])
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, s := range []plan.Selection{
		{Globs: []string{"["}}, {Filters: []string{"("}}, {Partition: "1/2"}, {Partition: "hash:0/2"},
		{Partition: "hash:3/2"}, {Partition: "hash:x/2"}, {Sample: -1},
	} {
		if _, err := s.Compile(); err == nil {
			t.Errorf("%+v accepted", s)
		}
	}
}

func TestOrder(t *testing.T) {
	list := []string{"a", "b", "c", "d"}
	got := plan.Order([]int{0, 1, 2, 3}, list, map[string]bool{"c": true, "d": true}, nil)
	if want := []int{2, 3, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// TestOrderOfDurations: long cases come first, short ones and those that take
// nearly as long stay as they are.
func TestOrderOfDurations(t *testing.T) {
	list := []string{"1ms", "900ms", "60ms", "10s", "70ms", "100ms", "0s", "1s", "2s"}
	took := make([]time.Duration, len(list))
	for i, name := range list {
		var err error
		if took[i], err = time.ParseDuration(name); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, i := range plan.Order([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}, list, map[string]bool{"60ms": true}, took) {
		got = append(got, list[i])
	}
	if want := []string{"60ms", "10s", "2s", "900ms", "1s", "70ms", "100ms", "1ms", "0s"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// TestOrderIsShort: on any number of lanes a run takes hardly longer than it must:
// than the longest case, or than all of them evenly spread.
func TestOrderIsShort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		lanes, n := 1+random.IntN(8), 1+random.IntN(100)
		took := make([]time.Duration, n)
		names, chosen := make([]string, n), make([]int, n)
		var sum time.Duration
		for i := range n {
			took[i] = time.Duration(math.Exp(random.NormFloat64()*2) * 1e8)
			sum += took[i]
			names[i], chosen[i] = fmt.Sprint(i), i
		}
		free := make([]time.Duration, lanes) // when each lane is
		for _, i := range plan.Order(chosen, names, nil, took) {
			l := slices.Index(free, slices.Min(free))
			free[l] += took[i]
		}
		least := max(sum/time.Duration(lanes), slices.Max(took))
		if wall := slices.Max(free); wall > least*3/2+64*time.Millisecond {
			t.Errorf("%d lanes, %d cases: %v, which could be %v", lanes, n, wall, least)
		}
	}
}
