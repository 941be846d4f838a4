package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/plan"
)

func compiled(t *testing.T, s plan.Selection) *plan.Chooser {
	t.Helper()
	c, err := s.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A selection of a check intersects with the recorded one. What the recorded
// globs, filters and partition select and the golden lacks runs too: it is new.
// What only the recorded sample leaves out is counted.
func TestChoiceAgainstBaseline(t *testing.T) {
	corpus := []string{"a/1", "a/2", "a/3", "b/1", "b/2"}
	for title, c := range map[string]struct {
		check, recorded plan.Selection
		golden          string
		run, missing    string
		notSampled      int
	}{
		"no selection": {
			golden: "a/1 a/2 gone", run: "a/1 a/2 a/3 b/1 b/2", missing: "gone",
		},
		"recorded globs": {
			recorded: plan.Selection{Globs: []string{"a/*"}}, golden: "a/1 a/2 a/9", run: "a/1 a/2 a/3", missing: "a/9",
		},
		"recorded filters": {
			recorded: plan.Selection{Filters: []string{"!^a"}}, golden: "b/1", run: "b/1 b/2",
		},
		"a case accepted from outside the recorded globs": {
			recorded: plan.Selection{Globs: []string{"a/*"}}, golden: "a/1 b/2", run: "a/1 a/2 a/3 b/2",
		},
		"both select": {
			check: plan.Selection{Filters: []string{"1$"}}, recorded: plan.Selection{Globs: []string{"a/*"}},
			golden: "a/1 a/2 a/9 a/11", run: "a/1", missing: "a/11",
		},
		"nothing in common": {
			check: plan.Selection{Globs: []string{"b/*"}}, recorded: plan.Selection{Globs: []string{"a/*"}}, golden: "a/1 a/2",
		},
		"a recorded sample": {
			recorded: plan.Selection{Sample: 3}, golden: "a/1 b/2 gone", run: "a/1 b/2", missing: "gone", notSampled: 3,
		},
		"a recorded sample of globs": {
			recorded: plan.Selection{Globs: []string{"a/*"}, Sample: 1}, golden: "a/2", run: "a/2", notSampled: 2,
		},
		"a selection of a recorded sample": {
			check: plan.Selection{Globs: []string{"b/*"}}, recorded: plan.Selection{Sample: 3},
			golden: "a/1 b/2 gone", run: "b/2", notSampled: 1,
		},
	} {
		t.Run(title, func(t *testing.T) {
			b := plan.Baseline{Names: slices.Sorted(slices.Values(strings.Fields(c.golden))), Selected: compiled(t, c.recorded)}
			got := compiled(t, c.check).Choose(corpus, b)
			var run []string
			for _, i := range got.Run {
				run = append(run, corpus[i])
			}
			if strings.Join(run, " ") != c.run || strings.Join(got.Missing, " ") != c.missing || got.NotSampled != c.notSampled {
				t.Errorf("runs %v, misses %v, %d not sampled", run, got.Missing, got.NotSampled)
			}
		})
	}
}

// A corpus that loses cases of a sample has them missing, and others do not take
// their place. One that wins cases has them in the sample when it would have had
// them at once.
func TestSampleOfChangedCorpus(t *testing.T) {
	list := names(200)
	sample := compiled(t, plan.Selection{Sample: 20})
	whole := sample.Choose(list, plan.Baseline{})
	b := plan.Baseline{Names: slices.Sorted(slices.Values(list))}
	var lost []string
	for _, i := range whole.Run[:5] {
		lost = append(lost, list[i])
	}
	slices.Sort(lost)
	left := slices.DeleteFunc(slices.Clone(list), func(n string) bool { return slices.Contains(lost, n) })
	got := sample.Choose(left, b)
	if !slices.Equal(got.Missing, lost) || len(got.Run) != 15 {
		t.Errorf("of %v lost, %v are missing, and %d run", lost, got.Missing, len(got.Run))
	}
	for _, i := range got.Run {
		if !slices.ContainsFunc(whole.Run, func(j int) bool { return list[j] == left[i] }) {
			t.Errorf("%s took the place of a lost one", left[i])
		}
	}
	more := slices.Clone(list)
	for i := range 200 {
		more = append(more, fmt.Sprintf("more%d", i))
	}
	if got, want := sample.Choose(more, b).Run, sample.Choose(more, plan.Baseline{}).Run; !slices.Equal(got, want) {
		t.Errorf("%v run, not %v", got, want)
	}
}

func TestFlagsOfSelection(t *testing.T) {
	s := plan.Selection{Globs: []string{"a/*", "b"}, Filters: []string{"!x"}, Partition: "hash:1/2", Sample: 7}
	want := []string{"--cases", "a/*", "--cases", "b", "--filter", "!x", "--partition", "hash:1/2", "--sample", "7"}
	if got := s.Flags(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := (plan.Selection{}).Flags(); len(got) > 0 {
		t.Errorf("the zero selection has %q", got)
	}
}
