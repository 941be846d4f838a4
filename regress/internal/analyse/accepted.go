package analyse

import (
	"slices"
	"strings"

	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
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

// RuleOf returns the ID of the first rule that turns the golden's outcome into the whole changed one. If only several
// rules together do that, it returns their IDs, such as R1+R2. Otherwise it returns "". A rule is only about outcomes
// that are older than the rule. c compares both sides, after the rewrites.
func (a *AcceptedRules) RuleOf(rewrites normalize.Rules, caseName string, origin int, was, is content.Side, c outcome.Comparison) (id string, err error) {
	if a == nil || c.EndingDiffers || len(c.Parts) == 0 || !isSmall(was) || !isSmall(is) {
		return "", nil
	}
	follows := a.covering(caseName, origin)
	for _, d := range c.Parts {
		if !isSameForm(d.Old, d.Now) || follows.ids() == "" {
			return "", nil
		}
		old, now, err := content.Texts(rewrites, was, is, d.Old, d.Now)
		if err != nil || !plaintext.Is(old) || !plaintext.Is(now) {
			return "", err
		}
		follows.narrow(outcome.PartName(d.Key), old, now)
	}
	for _, p := range was.Outcome.Parts { // the rules must leave the other texts as they are
		if slices.ContainsFunc(c.Parts, func(d outcome.Difference) bool { return d.Key == p.Key }) || follows.ids() == "" {
			continue
		}
		t, isText, err := textOf(rewrites, was, &p)
		if err != nil {
			return "", err
		}
		if isText {
			follows.narrow(outcome.PartName(p.Key), t, t)
		}
	}
	return follows.ids(), nil
}

// candidates are the rules that a case may follow, judging by the texts that were read so far.
type candidates struct {
	*AcceptedRules
	caseName string
	covering []bool // for each usable rule: it is about the case
	alone    []bool // it makes the texts
	together bool   // all covering rules make them
	matched  []bool // it matched in one of the texts
	budget   rule.Budget
}

// covering returns the rules about a case whose outcome has this origin.
func (a *AcceptedRules) covering(caseName string, origin int) *candidates {
	n := len(a.usable)
	c := &candidates{AcceptedRules: a, caseName: name.Print(caseName), covering: make([]bool, n), alone: make([]bool, n), together: true, matched: make([]bool, n)}
	since := a.meta.Since(origin)
	for i, r := range a.usable {
		c.covering[i] = r.Covers(since)
	}
	copy(c.alone, c.covering)
	return c
}

// narrow keeps the rules that make a new text of an old one.
func (c *candidates) narrow(part string, old, now []byte) {
	does := c.follower.Follow(c.caseName, part, old, now, c.covering, &c.budget)
	for i := range c.usable {
		c.alone[i] = c.alone[i] && does.Alone[i]
		c.matched[i] = c.matched[i] || c.covering[i] && does.Matches[i]
	}
	c.together = c.together && does.Together
}

// ids returns the rules that are left, or "".
func (c *candidates) ids() string {
	if i := slices.Index(c.alone, true); i >= 0 {
		return c.usable[i].ID()
	}
	if !c.together || !slices.Contains(c.covering, true) {
		return ""
	}
	var list []string
	for i, r := range c.usable {
		if c.matched[i] {
			list = append(list, r.ID())
		}
	}
	return strings.Join(list, "+")
}

// isSameForm reports whether both sides of a part are files or streams that differ in nothing but their content.
func isSameForm(old, now *outcome.Part) bool {
	return old != nil && now != nil && old.Form == outcome.Regular && now.Form == outcome.Regular && old.Exec == now.Exec && !old.Flaky && !now.Flaky
}
