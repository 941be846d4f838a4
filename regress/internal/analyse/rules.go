package analyse

import (
	"context"
	"slices"
	"time"

	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/plaintext"
	"muster/regress/internal/rule"
)

// These bound what rules are learned from, and checked with.
const (
	ruleCasesMin  = 4         // cases of a cause that has a rule
	ruleCausesMax = 200       // causes, those with most cases first
	learnBytesMax = 512 << 10 // old texts of one cause, and as much of unchanged cases
	ruleTextMax   = 1 << 20   // all texts of a case, on either side; others are not read
)

// Unchanged is the cases of a run that do not differ. If Side is nil, none can be read.
type Unchanged struct {
	Of    int // how many there are
	Names []string
	Side  func(caseName string) (content.Side, error)
}

// RuleBudgets are what rules may take: to learn them, to replay them on cases that differ, and on others.
type RuleBudgets struct{ Learn, Changed, Unchanged *rule.Budget }

// ruleTimePart is the share of the time so far that rules may take: one in ten.
const ruleTimePart = 10

// NewRuleBudgets returns what the rules of a run may take. A step takes some 8 ns, so those that are free of the clock take at most 200 ms.
func NewRuleBudgets(runBegan time.Time) RuleBudgets {
	began := time.Now()
	whole := began.Sub(runBegan) / ruleTimePart
	until := func(free int64, tenths time.Duration) *rule.Budget {
		return &rule.Budget{Free: free, Over: func() bool { return time.Since(began) > whole*tenths/10 }}
	}
	return RuleBudgets{Learn: until(8e6, 5), Changed: until(8e6, 8), Unchanged: until(4e6, 10)}
}

// PatientBudgets returns budgets without a bound of time, until ctx ends.
func PatientBudgets(ctx context.Context) RuleBudgets {
	b := func() *rule.Budget { return &rule.Budget{Over: func() bool { return ctx.Err() != nil }} }
	return RuleBudgets{Learn: b(), Changed: b(), Unchanged: b()}
}

// A ruleReader reads the texts of cases for rules.
type ruleReader struct {
	found     *cause.Found
	rules     normalize.Rules
	sides     SidesOf
	unchanged Unchanged
	budgets   RuleBudgets
}

// AddRules learns a rule for each cause from half of its cases, and adds to the cause what the rule does in
// the others and in unchanged outputs. It has no error, because a check needs no rules: a case whose texts cannot be
// had counts as not read.
func AddRules(found *cause.Found, rules normalize.Rules, sides SidesOf, unchanged Unchanged, budgets RuleBudgets) {
	if found.Rewritten || len(found.Causes) == 0 {
		return
	}
	r := ruleReader{found, rules, sides, unchanged, budgets}
	learned := r.learn()
	if !slices.ContainsFunc(learned, func(l *rule.Rule) bool { return l != nil }) {
		return
	}
	r.replay(learned)
}

// replay adds to the causes what their rules do.
func (r *ruleReader) replay(learned []*rule.Rule) {
	book := rule.NewBook(learned, r.budgets.Changed)
	for _, m := range shuffled(r.found.Members, func(m cause.Member) string { return m.Name }) {
		if texts, known := r.changedTexts(&m, r.budgets.Changed); known {
			book.Changed(m.Name, texts, m.Causes)
		} else {
			book.Unread(m.Causes)
		}
	}
	book.Spend(r.budgets.Unchanged)
	for _, caseName := range r.unchangedNames() {
		if !r.budgets.Unchanged.TakeCase() {
			break
		}
		if texts, known := r.unchangedTexts(caseName); known {
			book.Unchanged(caseName, texts)
		}
	}
	for i := range r.found.Causes {
		if c := &r.found.Causes[i]; learned[i] != nil {
			if c.Rule = book.Result(i); c.Rule != nil {
				c.Rule.Of = r.unchanged.Of
				if c.Rule.Uniform {
					c.Rule.Learned = learned[i].Encode()
				}
			}
		}
	}
}

// unchangedNames returns the names of the cases that do not differ and can be read, shuffled.
func (r *ruleReader) unchangedNames() []string {
	if r.unchanged.Side == nil {
		return nil
	}
	return shuffled(r.unchanged.Names, func(s string) string { return s })
}

// shuffled returns a list in an order that says nothing about the cases, so that a part of it is a fair sample.
func shuffled[T any](list []T, nameOf func(T) string) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return rule.Order(nameOf(a), nameOf(b)) })
	return list
}

// learn learns the rules of the causes that may have one. For those that it has no time for it notes that no case
// was read.
func (r *ruleReader) learn() []*rule.Rule {
	trainees := make([][]cause.Member, len(r.found.Causes))
	for _, m := range shuffled(r.found.Members, func(m cause.Member) string { return m.Name }) {
		if !rule.Trains(m.Name) {
			continue
		}
		for _, c := range m.Causes {
			trainees[c] = append(trainees[c], m)
		}
	}
	background, whole := r.background()
	learned := make([]*rule.Rule, len(trainees))
	for i := range r.found.Causes[:min(ruleCausesMax, len(r.found.Causes))] {
		c := &r.found.Causes[i]
		if c.Kind != cause.Edit || c.Bucketed() > 0 || c.Cases < ruleCasesMin {
			continue
		}
		var texts []rule.Text
		size, used := 0, 0
		for _, m := range trainees[i] {
			if size > learnBytesMax {
				break
			}
			used++
			if list, known := r.changedTexts(&m, r.budgets.Learn); known {
				texts, size = append(texts, list...), size+sizeOf(list)
			}
		}
		// As large a share of the unchanged cases, or they would seem to be more than they are.
		share := min(len(background), used*whole/max(1, len(trainees[i])))
		if learned[i] = rule.Learn(i, texts, slices.Concat(background[:share]...), r.budgets.Learn); learned[i] == nil {
			c.Rule = &cause.Rule{Unread: c.Cases, Of: r.unchanged.Of}
		}
	}
	return learned
}

// textOverhead is about how many bytes learning takes for a text beside those of its sides.
const textOverhead = 4 << 10

// sizeOf returns how many bytes texts have on both sides, with what else they take.
func sizeOf(texts []rule.Text) (n int) {
	for _, t := range texts {
		n += textOverhead + len(t.Old) + len(t.Now)
	}
	return n
}

// background returns the texts of unchanged cases of the half that rules are learned from, by case, and how
// many cases that half has.
func (r *ruleReader) background() (cases [][]rule.Text, whole int) {
	size := 0
	for _, caseName := range r.unchangedNames() {
		if !rule.Trains(caseName) {
			continue
		}
		if whole++; size > learnBytesMax || !r.budgets.Learn.TakeCase() {
			continue
		}
		texts, _ := r.unchangedTexts(caseName)
		size += sizeOf(texts)
		cases = append(cases, texts)
	}
	return cases, whole
}

// changedTexts returns the texts of a case that differs. It returns false if a part cannot be read, is too large, or has
// edits that are not known, or if the time is over.
func (r *ruleReader) changedTexts(m *cause.Member, budget *rule.Budget) (texts []rule.Text, known bool) {
	if !budget.TakeCase() {
		return nil, false
	}
	was, is, err := r.sides(m.Name)
	if err != nil || !isSmall(was) || !isSmall(is) {
		return nil, false
	}
	for _, p := range was.Outcome.Parts {
		now, has := is.Outcome.Part(p.Key)
		i := slices.IndexFunc(m.Parts, func(e cause.PartEdits) bool { return e.Key == p.Key })
		switch {
		case !has, i < 0 && now.Digest != p.Digest:
			continue
		case i < 0 || len(m.Parts[i].Edits) == 0:
			t, isText, err := r.wholeText(m.Name, was, &p)
			if err != nil || isText && now.Digest != p.Digest { // a text with more edits than are kept
				return nil, false
			}
			if isText {
				texts = append(texts, t)
			}
		default:
			t := rule.Text{Name: name.Print(m.Name), Part: outcome.PartName(p.Key), Edits: m.Parts[i].Edits}
			if t.Old, t.Now, err = content.Texts(r.rules, was, is, partOf(was, p.Key), partOf(is, p.Key)); err != nil || !t.HasEdits() {
				return nil, false
			}
			texts = append(texts, t)
		}
	}
	return texts, true
}

// isSmall reports whether the parts of a side are small enough to be read, all together.
func isSmall(s content.Side) bool {
	left := int64(ruleTextMax)
	for _, p := range s.Outcome.Parts {
		if left -= p.Size; left < 0 {
			return false
		}
	}
	return true
}

// unchangedTexts returns the texts of a case that does not differ. It returns false if a part cannot be read, or is too large.
func (r *ruleReader) unchangedTexts(caseName string) (texts []rule.Text, known bool) {
	s, err := r.unchanged.Side(caseName)
	if err != nil || !isSmall(s) {
		return nil, false
	}
	for _, p := range s.Outcome.Parts {
		t, isText, err := r.wholeText(caseName, s, &p)
		if err != nil {
			return nil, false
		}
		if isText {
			texts = append(texts, t)
		}
	}
	return texts, true
}

// wholeText returns a part without edits. It returns false if the part is not a text that is compared.
func (r *ruleReader) wholeText(caseName string, s content.Side, p *outcome.Part) (t rule.Text, isText bool, err error) {
	b, isText, err := textOf(r.rules, s, p)
	if !isText {
		return t, false, err
	}
	return rule.Text{Name: name.Print(caseName), Part: outcome.PartName(p.Key), Old: b, Now: b}, true, nil
}

// textOf returns a part after the rewrites. It returns false if the part is not a text that is compared.
func textOf(rewrites normalize.Rules, s content.Side, p *outcome.Part) (text []byte, isText bool, err error) {
	if p.Form != outcome.Regular || p.Flaky {
		return nil, false, nil
	}
	b, err := content.Shown(rewrites, s.Open, p)
	return b, err == nil && plaintext.Is(b), err
}
