package plan_test

import (
	"fmt"
	"slices"
	"testing"

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
	return c.Choose(list, plan.Baseline{}).Run
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
