package analyse

import (
	"errors"
	"fmt"
	"testing"

	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/outcome"
	"muster/regress/internal/rule"
)

// Texts that cannot be read make no error, and no rule claims to have been checked with them.
func TestRulesOfUnreadableCases(t *testing.T) {
	key := outcome.Key{Place: outcome.Stdout}
	a := cause.New()
	for i := range 20 {
		a.Add(cause.Case{Name: fmt.Sprint(i), Parts: []cause.Part{{
			Key: key, Old: &outcome.Part{Key: key}, Now: &outcome.Part{Key: key}, OldText: []byte("a b\n"), NowText: []byte("a c\n"),
		}}})
	}
	found := a.Causes()
	lost := errors.New("lost")
	sides := func(string) (was, is content.Side, err error) { return was, is, lost }
	unchanged := Unchanged{Of: 1, Names: []string{"x"}, Side: func(string) (content.Side, error) { return content.Side{}, lost }}
	AddRules(found, nil, sides, unchanged, RuleBudgets{&rule.Budget{}, &rule.Budget{}, &rule.Budget{}})
	if r := found.Causes[0].Rule; len(found.Causes) != 1 || r == nil || r.Uniform || r.Unread != 20 || r.Unchanged != 0 || r.Of != 1 {
		t.Errorf("%d causes, %+v", len(found.Causes), r)
	}

	// So with the time over before anything was read.
	over := &rule.Budget{Over: func() bool { return true }}
	found.Causes[0].Rule = nil
	AddRules(found, nil, sides, unchanged, RuleBudgets{over, over, over})
	if r := found.Causes[0].Rule; r == nil || r.Uniform || r.Unread != 20 {
		t.Errorf("%+v: the time was over", r)
	}
}
