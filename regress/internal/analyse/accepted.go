package analyse

import (
	"slices"

	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/plaintext"
	"muster/regress/internal/rule"
)

// AcceptedRules are the rules of a golden. Several goroutines may use them.
type AcceptedRules struct {
	meta     golden.Meta
	usable   []golden.Rule
	follower *rule.Follower
}

// NewAcceptedRules returns the rules of a golden that this muster can apply, or nil if there are none.
func NewAcceptedRules(m golden.Meta) *AcceptedRules {
	a := &AcceptedRules{meta: m}
	var rules []*rule.Rule
	for _, r := range m.Rules {
		if learned, err := rule.Decode(r.Body); err == nil {
			a.usable, rules = append(a.usable, r), append(rules, learned)
		}
	}
	if len(rules) == 0 {
		return nil
	}
	a.follower = rule.NewFollower(rules)
	return a
}

// IsUsable reports whether this muster can apply a rule of a golden.
func IsUsable(r golden.Rule) bool {
	_, err := rule.Decode(r.Body)
	return err == nil
}

// RuleOf returns the ID of the first rule that makes a changed outcome of the golden's, all of it. It returns "" if no rule does.
// A rule is about outcomes that are older than it. c compares both sides, under rewrites.
func (a *AcceptedRules) RuleOf(rewrites normalize.Rules, origin int, was, is content.Side, c outcome.Comparison) (id string, err error) {
	if a == nil || c.EndingDiffers || len(c.Parts) == 0 || !isSmall(was) || !isSmall(is) {
		return "", nil
	}
	fits := make([]bool, len(a.usable))
	since := a.meta.Since(origin)
	for i, r := range a.usable {
		fits[i] = r.Covers(since)
	}
	narrow := func(k outcome.Key, old, now []byte) bool {
		follows := a.follower.Follows(outcome.PartName(k), old, now)
		for i := range fits {
			fits[i] = fits[i] && follows[i]
		}
		return slices.Contains(fits, true)
	}
	if !slices.Contains(fits, true) {
		return "", nil
	}
	for _, d := range c.Parts {
		if !isSameForm(d.Old, d.Now) {
			return "", nil
		}
		old, now, err := content.Texts(rewrites, was, is, d.Old, d.Now)
		if err != nil || !plaintext.Is(old) || !plaintext.Is(now) || !narrow(d.Key, old, now) {
			return "", err
		}
	}
	for _, p := range was.Outcome.Parts { // the rule must leave the other texts as they are
		if slices.ContainsFunc(c.Parts, func(d outcome.Difference) bool { return d.Key == p.Key }) {
			continue
		}
		t, isText, err := textOf(rewrites, was, &p)
		if err != nil || isText && !narrow(p.Key, t, t) {
			return "", err
		}
	}
	return a.usable[slices.Index(fits, true)].ID(), nil
}

// isSameForm reports whether both sides of a part are files or streams that differ in nothing but their content.
func isSameForm(old, now *outcome.Part) bool {
	return old != nil && now != nil && old.Form == outcome.Regular && now.Form == outcome.Regular && old.Exec == now.Exec && !old.Flaky && !now.Flaky
}
