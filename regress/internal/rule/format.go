package rule

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"muster/regress/internal/cause/token"
)

// format is the version of encoded rules. A change of their encoding, of tokens and their keys, or of a fact of a
// context needs another number: an old rule would mean something else.
const format = 1

// Bounds of an encoded rule. A rule that exceeds them is not encoded.
const (
	encodedMax = 32 << 10 // bytes
	copiesMax  = 64       // outputs of a production that are copies, because each may be long
)

type encodedRule struct {
	Format      int                 `json:"format"`
	Productions []encodedProduction `json:"productions"`
}

type encodedProduction struct {
	Parity  int             `json:"parity"`
	From    int             `json:"from"`
	To      int             `json:"to"`
	Empty   bool            `json:"empty,omitempty"`
	Until   uint64          `json:"until,omitempty"`
	Pieces  []piece         `json:"pieces"`
	Outputs []encodedOutput `json:"outputs"`
	Guards  []guard         `json:"guards"`
}

type encodedOutput struct {
	Text []byte `json:"text,omitempty"`
	From source `json:"from,omitempty"`
	At   int    `json:"at,omitempty"`
}

// Encode returns a rule as JSON, or nil for a rule that is too large.
func (r *Rule) Encode() []byte {
	list := make([]encodedProduction, len(r.productions))
	for i, q := range r.productions {
		e := encodedProduction{Parity: q.parity, From: q.from, To: q.to, Empty: q.empty, Until: q.until, Pieces: q.pieces, Guards: q.guards}
		for _, o := range q.outputs {
			e.Outputs = append(e.Outputs, encodedOutput{[]byte(o.text), o.from, o.at})
		}
		list[i] = e
	}
	b, err := json.Marshal(encodedRule{format, list})
	if err != nil || len(b) > encodedMax {
		return nil
	}
	if _, err := Decode(b); err != nil {
		return nil
	}
	return b
}

// ErrFormat is the error for what this muster cannot read as a rule.
var ErrFormat = errors.New("not a rule of a known format")

// Decode reads what Encode wrote. It refuses a rule that cannot be applied to every text.
func Decode(b []byte) (*Rule, error) {
	var whole encodedRule
	if len(b) > encodedMax || json.Unmarshal(b, &whole) != nil || whole.Format != format || len(whole.Productions) == 0 || len(whole.Productions) > productionsMax {
		return nil, ErrFormat
	}
	r := &Rule{}
	for _, e := range whole.Productions {
		if !e.isPossible() {
			return nil, ErrFormat
		}
		var q production
		q.parity, q.from, q.to, q.empty, q.until = e.Parity, e.From, e.To, e.Empty, e.Until
		q.pieces, q.guards = e.Pieces, e.Guards
		for _, o := range e.Outputs {
			q.outputs = append(q.outputs, output{string(o.Text), o.From, o.At})
		}
		r.productions = append(r.productions, q)
	}
	return r, nil
}

// isPossible reports whether a production can be applied to every text.
func (e *encodedProduction) isPossible() bool {
	copied := 0
	for _, o := range e.Outputs {
		if o.From > fromBlank || o.At < 0 || o.At > encodedMax {
			return false
		}
		if o.From != literal {
			copied++
		}
	}
	holes := [2][]token.Kind{{0, anyGap, lineGap}, {0, token.Word, token.Number, token.Sign, anyToken}}
	for i, x := range e.Pieces {
		if !slices.Contains(holes[(e.Parity+i)&1], x.Hole) {
			return false
		}
	}
	return copied <= copiesMax && (e.Parity == 0 || e.Parity == 1) && len(e.Pieces) > 0 && 0 <= e.From && e.From <= e.To && e.To <= len(e.Pieces) &&
		!slices.ContainsFunc(e.Guards, func(g guard) bool { return g.Kind < 0 || g.Kind >= contextKinds })
}

// A Follower applies rules to old texts. Several goroutines may use it.
type Follower struct{ set *set }

// NewFollower returns a follower of rules.
func NewFollower(rules []*Rule) *Follower { return &Follower{newSet(rules)} }

// Following is what rules do to a text.
type Following struct {
	Alone    []bool // for each rule: it makes the new text
	Together bool   // all of them make it, and agree in each place
	Matches  []bool // for each rule: the old text has a place for it
}

// Follow reports which rules make a new text of an old one, byte for byte: each alone, and those that together
// selects as one. Together, rules that make different texts of a place do nothing. It reports no rule if the texts of
// a case, which share a budget, take too many steps.
func (f *Follower) Follow(caseName, part string, old, now []byte, together []bool, budget *Budget) Following {
	does := f.nothing()
	take := func(steps int) bool { return budget.take(steps) && budget.steps < caseStepsMax }
	if !take(byteSteps * len(old)) {
		return f.nothing()
	}
	p := newPage(caseName, part, old)
	found, ok := f.set.find(p, take)
	if !ok {
		return f.nothing()
	}
	var all []match
	isSame, agree := bytes.Equal(old, now), true
	does.Together = isSame
	for i, matches := range found {
		if len(matches) == 0 {
			does.Alone[i] = isSame
			continue
		}
		if !take(len(old)) {
			return f.nothing()
		}
		does.Matches[i] = true
		does.Alone[i] = replaceMatches(p, matches) == string(now)
		switch {
		case !together[i]:
		case len(all) == 0:
			all, does.Together = matches, does.Alone[i]
		case agree:
			all, agree = joinMatches(all, matches)
			does.Together = agree && replaceMatches(p, all) == string(now)
		}
	}
	return does
}

// nothing is what no rule does.
func (f *Follower) nothing() Following {
	return Following{Alone: make([]bool, len(f.set.rules)), Matches: make([]bool, len(f.set.rules))}
}

// joinMatches returns the matches of several rules and those of one more, in order. It returns false if they make different
// texts of a place.
func joinMatches(all, matches []match) (list []match, agree bool) {
	list = slices.Concat(all, matches)
	slices.SortFunc(list, func(x, y match) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to)) })
	list = slices.CompactFunc(list, func(x, y match) bool { return x.from == y.from && x.to == y.to && x.text == y.text })
	n := len(list)
	list = withoutOverlaps(list)
	return list, len(list) == n
}

// replaceMatches returns a text with the replacements of matches, which are in order.
func replaceMatches(p *page, matches []match) string {
	made := make([]change, len(matches))
	for i, m := range matches {
		made[i] = change{m.from, m.to, []item{{text: m.text}}}
	}
	return applyChanges(p, made)
}
