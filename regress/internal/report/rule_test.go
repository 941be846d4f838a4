package report

import (
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// What is said of a rule says which cases and outputs it is about.
func TestRuleSentences(t *testing.T) {
	for _, c := range []struct {
		rule            *cause.Rule
		words, sentence string
	}{
		{nil, "", ""},
		{
			&cause.Rule{Uniform: true, Cases: 29, Exact: 29, Places: 953, Explained: 953, Unchanged: 12_400, Of: 12_400}, "uniform",
			"uniform, rule: explains 953 of 953 places; 29 of 29 cases that it was not learned from follow byte for byte; matches nowhere in 12,400 unchanged outputs",
		},
		{
			&cause.Rule{Cases: 1, Exact: 0, Places: 3, Explained: 2}, "",
			"rule: explains 2 of 3 places; 0 of 1 case that it was not learned from follow byte for byte",
		},
		{
			&cause.Rule{Cases: 2, Exact: 1, Places: 3, Explained: 2, Unchanged: 5, Of: 9, Elsewhere: 1, Forgotten: 37, ForgottenCases: 12}, "left as it was in 37 places of 12 cases",
			"rule: explains 2 of 3 places; 1 of 2 cases that it was not learned from follow byte for byte; matches 1 place in the 5 of 9 unchanged outputs that were read",
		},
		{
			&cause.Rule{Uniform: true, Cases: 2, Exact: 2, Places: 3, Explained: 3, Of: 7}, "uniform in what was read",
			"uniform, rule: explains 3 of 3 places; 2 of 2 cases that it was not learned from follow byte for byte; none of 7 unchanged outputs was read",
		},
		{
			&cause.Rule{Cases: 2, Exact: 2, Places: 3, Explained: 3, Unread: 5, Cut: true}, "",
			"rule: explains 3 of 3 places; 2 of 2 cases that it was not learned from follow byte for byte; learning stopped at its limit of steps; 5 cases of the cause not read: the time for rules was over, or their texts are too large",
		},
		{&cause.Rule{Unread: 5}, "", "no rule was checked, 5 cases of the cause not read: the time for rules was over, or their texts are too large"},
		{&cause.Rule{Cases: 4, Places: 9}, "", "follows no rule that was found: what decides may not be in the old text; examined in 4 cases that it was not learned from"},
	} {
		if words, sentence := RuleWords(c.rule), RuleSentence(c.rule); words != c.words || sentence != c.sentence {
			t.Errorf("%+v:\n%q\n%q", c.rule, words, sentence)
		}
	}
}

// Names of cases in the list cannot control a terminal, and the list is bounded.
func TestForgottenPlaces(t *testing.T) {
	place := cause.RulePlace{Case: "a\x1b[2Jb", Part: "stdout", Line: 12_345}
	r := &cause.Rule{Forgotten: 5, ForgottenCases: 1, Examples: []cause.RulePlace{place, place, place}}
	places, more := ForgottenPlaces(r, 2)
	if len(places) != 2 || more != "3 more" || strings.Contains(places[0], "\x1b") || !strings.HasSuffix(places[0], ": stdout, line 12,345 of the old text") {
		t.Errorf("%q, %q", places, more)
	}
	if places, more := ForgottenPlaces(&cause.Rule{Examples: r.Examples}, 2); places != nil || more != "" {
		t.Errorf("%q, %q: the rule calls no place forgotten", places, more)
	}
	if text := ForgottenSentence(r); text != "the same text in 5 places of 1 case was left as it was" {
		t.Error(text)
	}
}
