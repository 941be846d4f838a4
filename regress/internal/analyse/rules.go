package analyse

import (
	"slices"

	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/plaintext"
	"muster/regress/internal/rule"
)

// These bound what rules are learned from. What they are checked with is bounded by time.
const (
	ruleCasesMin  = 4         // cases of a cause that has a rule
	learnBytesMax = 512 << 10 // old texts of one cause, and as much of unchanged cases
	ruleTextMax   = 8 << 20   // a larger part is not read
	learnStepsMax = 400_000_000
)

// Unchanged is the cases of a run that do not differ.
type Unchanged struct {
	Names []string
	Side  func(caseName string) (content.Side, error)
}

// A ruleReader reads the texts of cases for rules.
type ruleReader struct {
	found     *cause.Found
	rules     normalize.Rules
	sides     SidesOf
	unchanged Unchanged
}

// AddRules learns a rule for each cause from half of its cases, and adds to the cause what the rule does in
// the others and in unchanged outputs. It stops to read cases that differ when changedOver returns true,
// and unchanged ones when unchangedOver does.
func AddRules(found *cause.Found, rules normalize.Rules, sides SidesOf, unchanged Unchanged, changedOver, unchangedOver func() bool) error {
	if found.Rewritten || len(found.Causes) == 0 {
		return nil
	}
	r := ruleReader{found, rules, sides, unchanged}
	learned, err := r.learn(changedOver)
	if err != nil || !slices.ContainsFunc(learned, func(l *rule.Rule) bool { return l != nil }) {
		return err
	}
	book := rule.NewBook(learned)
	for _, m := range shuffled(found.Members, func(m cause.Member) string { return m.Name }) {
		if changedOver() {
			break
		}
		texts, known, err := r.changedTexts(&m)
		if err != nil {
			return err
		}
		if known {
			book.Changed(m.Name, texts, m.Causes)
		}
	}
	for _, caseName := range shuffled(unchanged.Names, func(s string) string { return s }) {
		if unchangedOver() {
			break
		}
		texts, err := r.unchangedTexts(caseName)
		if err != nil {
			return err
		}
		book.Unchanged(caseName, texts)
	}
	for i := range found.Causes {
		if found.Causes[i].Rule = book.Result(i); found.Causes[i].Rule != nil {
			found.Causes[i].Rule.Of = len(unchanged.Names)
		}
	}
	return nil
}

// shuffled returns a list in an order that says nothing about the cases, so that a part of it is a fair sample.
func shuffled[T any](list []T, nameOf func(T) string) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return rule.Order(nameOf(a), nameOf(b)) })
	return list
}

// learn learns the rules of the causes that may have one.
func (r *ruleReader) learn(over func() bool) ([]*rule.Rule, error) {
	trainees := make([][]cause.Member, len(r.found.Causes))
	for _, m := range shuffled(r.found.Members, func(m cause.Member) string { return m.Name }) {
		if !rule.Trains(m.Name) {
			continue
		}
		for _, c := range m.Causes {
			trainees[c] = append(trainees[c], m)
		}
	}
	background, whole, err := r.background()
	if err != nil {
		return nil, err
	}
	learned := make([]*rule.Rule, len(trainees))
	work := int64(learnStepsMax)
	for i, c := range r.found.Causes {
		if c.Kind != cause.Edit || c.Bucketed() > 0 || c.Cases < ruleCasesMin || over() || work <= 0 {
			continue
		}
		var texts []rule.Text
		size, used := 0, 0
		for _, m := range trainees[i] {
			if size > learnBytesMax {
				break
			}
			list, known, err := r.changedTexts(&m)
			if err != nil {
				return nil, err
			}
			used++
			for _, t := range list {
				if known {
					texts, size = append(texts, t), size+len(t.Old)
				}
			}
		}
		// As large a share of the unchanged cases, or they would seem to be more than they are.
		share := min(len(background), used*whole/max(1, len(trainees[i])))
		learned[i] = rule.Learn(i, texts, slices.Concat(background[:share]...), &work)
	}
	return learned, nil
}

// background returns the texts of unchanged cases of the half that rules are learned from, by case, and how
// many cases that half has.
func (r *ruleReader) background() (cases [][]rule.Text, whole int, err error) {
	size := 0
	for _, caseName := range shuffled(r.unchanged.Names, func(s string) string { return s }) {
		if !rule.Trains(caseName) {
			continue
		}
		if whole++; size > learnBytesMax {
			continue
		}
		texts, err := r.unchangedTexts(caseName)
		if err != nil {
			return nil, 0, err
		}
		for _, t := range texts {
			size += len(t.Old)
		}
		cases = append(cases, texts)
	}
	return cases, whole, nil
}

// changedTexts returns the texts of a case that differs. It returns false if a part with edits is too large.
func (r *ruleReader) changedTexts(m *cause.Member) (texts []rule.Text, known bool, err error) {
	was, is, err := r.sides(m.Name)
	if err != nil {
		return nil, false, err
	}
	known = true
	for _, p := range was.Outcome.Parts {
		now, has := is.Outcome.Part(p.Key)
		i := slices.IndexFunc(m.Parts, func(e cause.PartEdits) bool { return e.Key == p.Key })
		switch {
		case i < 0 && has && now.Digest == p.Digest:
			texts, err = r.appendUnchanged(texts, m.Name, was, &p)
		case i < 0 || !has || len(m.Parts[i].Edits) == 0:
		case max(p.Size, now.Size) > ruleTextMax:
			known = false
		default:
			t := rule.Text{Name: name.Print(m.Name), Part: outcome.PartName(p.Key), Edits: m.Parts[i].Edits}
			t.Old, t.Now, err = rewrittenTexts(r.rules, p.Key, was, is)
			texts = append(texts, t)
		}
		if err != nil {
			return nil, false, err
		}
	}
	return texts, known, nil
}

// unchangedTexts returns the texts of a case that does not differ.
func (r *ruleReader) unchangedTexts(caseName string) (texts []rule.Text, err error) {
	s, err := r.unchanged.Side(caseName)
	if err != nil {
		return nil, err
	}
	for _, p := range s.Outcome.Parts {
		if texts, err = r.appendUnchanged(texts, caseName, s, &p); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// appendUnchanged appends a part that did not change, if it is a text that is compared.
func (r *ruleReader) appendUnchanged(texts []rule.Text, caseName string, s content.Side, p *outcome.Part) ([]rule.Text, error) {
	if p.Form != outcome.Regular || p.Flaky || p.Size > ruleTextMax {
		return texts, nil
	}
	b, err := content.Shown(r.rules, s.Open, p)
	if err != nil || !plaintext.Is(b) {
		return texts, err
	}
	return append(texts, rule.Text{Name: name.Print(caseName), Part: outcome.PartName(p.Key), Old: b, Now: b}), nil
}
