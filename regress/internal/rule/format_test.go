package rule

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause/token"
)

// Rules in goldens have keys of tokens and facts about places. A change of these makes another format: raise it, and
// put the new sum here.
func TestFormat(t *testing.T) {
	text := plant(7, nil) + "\"a 'b' 0x1f 1.5e3\" -- // remark ===\n\n\tif (x<=y) { return [z]; } &amp; <b>ü</b>\n"
	p := newPage("in.bas", "out.c", []byte(text))
	sum := uint64(format)
	for i := range p.items() {
		sum = join(sum, p.key(i))
		c := contextOf(p, i, i+1, i)
		for _, fact := range c {
			sum = join(sum, fact)
		}
	}
	if sum != 0xcf28daedc193bdc0 {
		t.Errorf("the sum of all facts is %#x", sum)
	}
}

// learnedRule is a rule with guards and holes, and a text to apply it to.
func learnedRule(t *testing.T) (r *Rule, old, now string) {
	t.Helper()
	var olds, nows []string
	for i := range uint64(60) {
		olds, nows = append(olds, plant(i, nil)), append(nows, plant(i, func(kind int) bool { return kind == 2 }))
	}
	texts, _ := analyse(olds, nows)
	var budget Budget
	if r = Learn(0, texts, nil, &budget); r == nil || len(r.productions) == 0 {
		t.Fatal("no rule was learned")
	}
	old, now = plant(99, nil), plant(99, func(kind int) bool { return kind == 2 })
	if old == now {
		t.Fatal("the change is not in the text")
	}
	return r, old, now
}

// A rule does the same after it was kept. It makes the whole new text, or the text does not follow.
func TestFollows(t *testing.T) {
	r, old, now := learnedRule(t)
	kept, err := Decode(r.Encode())
	if err != nil {
		t.Fatal(err)
	}
	f := NewFollower([]*Rule{r, kept})
	for _, c := range []struct {
		old, now string
		want     bool
	}{
		{old, now, true}, {old, old, false}, {old, now + " ", false}, {old, strings.Replace(now, "(double)", "(float)", 1), false},
		{old + "more", now, false}, {"", "", true}, {"a", "", false},
	} {
		does := f.Follow("", "", []byte(c.old), []byte(c.now), []bool{true, true}, &Budget{})
		for i, got := range append(does.Alone, does.Together) {
			if got != c.want {
				t.Errorf("rule %d, %q: follows is %v", i, c.now, got)
			}
		}
		spent := f.Follow("", "", []byte(c.old), []byte(c.now), []bool{true, true}, &Budget{steps: caseStepsMax})
		if spent.Together || slices.Contains(append(spent.Alone, spent.Matches...), true) {
			t.Errorf("%q: %+v, and no steps were left for the case", c.now, spent)
		}
		if want := len(c.old) > 1; does.Matches[0] != want {
			t.Errorf("%q: matches is %v", c.old, does.Matches[0])
		}
	}
}

// ruleReplacing returns a rule that replaces the first token of a text by another.
func ruleReplacing(token, by string) *Rule {
	var q production
	q.outputs = []output{{text: by}}
	q.parity, q.to, q.pieces = 1, 1, []piece{{Key: newPage("", "", []byte(token)).key(1)}}
	return &Rule{productions: []production{q}}
}

// Several rules make a text together only if they agree. Otherwise it would depend on their order which of them are applied.
func TestFollowsTogether(t *testing.T) {
	one, same, other, more := ruleReplacing("a", "x"), ruleReplacing("a", "x"), ruleReplacing("a", "y"), ruleReplacing("b", "z")
	for _, c := range []struct {
		rules []*Rule
		now   string
		want  bool
	}{
		{[]*Rule{one, more}, "x z c", true}, {[]*Rule{one, more, same}, "x z c", true}, {[]*Rule{one, more}, "x b c", false},
		{[]*Rule{one, other, more}, "x z c", false}, {[]*Rule{more, other, one}, "y z c", false}, {[]*Rule{one, other}, "x b c", false},
	} {
		all := make([]bool, len(c.rules))
		for i := range all {
			all[i] = true
		}
		if does := NewFollower(c.rules).Follow("", "", []byte("a b c"), []byte(c.now), all, &Budget{}); does.Together != c.want {
			t.Errorf("%d rules, %q: together is %v", len(c.rules), c.now, does.Together)
		}
	}
}

// A golden may come from anybody. Whatever is decoded can be applied to any text, within bounds.
func TestHostileRules(t *testing.T) {
	r, old, now := learnedRule(t)
	encoded := r.Encode()
	for _, bad := range []string{
		``, `null`, `7`, `{}`, `{"format":1}`, `{"format":1,"productions":[]}`, `{"format":1,"productions":[{}]}`,
		strings.Replace(string(encoded), `"format":1`, `"format":2`, 1),
		string(encoded) + strings.Repeat(" ", encodedMax),
		`{"format":1,"productions":[{"parity":2,"from":0,"to":0,"pieces":[{"key":1}]}]}`,
		`{"format":1,"productions":[{"parity":0,"from":0,"to":2,"pieces":[{"key":1}]}]}`,
		`{"format":1,"productions":[{"parity":0,"from":1,"to":0,"pieces":[{"key":1}]}]}`,
		`{"format":1,"productions":[{"parity":0,"from":0,"to":1,"pieces":[{"hole":119}]}]}`,
		`{"format":1,"productions":[{"parity":0,"from":0,"to":1,"pieces":[{"key":1}],"guards":[{"kind":49}]}]}`,
		`{"format":1,"productions":[{"parity":0,"from":0,"to":1,"pieces":[{"key":1}],"outputs":[{"from":9}]}]}`,
		`{"format":1,"productions":[{"parity":0,"from":0,"to":1,"pieces":[{"key":1}],"outputs":[{"from":1,"at":-1}]}]}`,
	} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%.80s was taken for a rule", bad)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{old, "", " ", "\n", "a", "\n\n a\n", strings.Repeat("(\n", 50)}
	decoded := 0
	for range 20_000 {
		var whole encodedRule
		if err := json.Unmarshal(encoded, &whole); err != nil {
			t.Fatal(err)
		}
		for i := range whole.Productions {
			disturb(random, &whole.Productions[i])
		}
		b, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		if hostile, err := Decode(b); err == nil {
			decoded++
			NewFollower([]*Rule{hostile}).Follow("", "", []byte(texts[random.IntN(len(texts))]), []byte(now), []bool{true}, &Budget{})
		}
	}
	if decoded < 100 {
		t.Errorf("only %d disturbed rules were decoded", decoded)
	}
}

// disturb changes a production at random.
func disturb(r *rand.Rand, q *encodedProduction) {
	small := func() int { return r.IntN(6) - 1 }
	switch r.IntN(10) {
	case 0:
		q.Parity = small()
	case 1:
		q.From = small()
	case 2:
		q.To = small()
	case 3:
		q.Until = []uint64{0, end, 1}[r.IntN(3)]
	case 4:
		q.Pieces = q.Pieces[:r.IntN(len(q.Pieces)+1)]
	case 5:
		for i := range q.Pieces {
			q.Pieces[i] = piece{Hole: []token.Kind{anyGap, lineGap, anyToken, token.Word, token.Number, token.Sign, 9}[r.IntN(7)]}
		}
	case 6:
		q.Outputs = append(q.Outputs, encodedOutput{From: source(r.IntN(8)), At: small()})
	case 7:
		q.Guards = nil
	case 8:
		q.Empty = true
	case 9:
		q.Guards = append(q.Guards, guard{Kind: r.IntN(60) - 5, Value: 1, Absent: true})
	}
}

// A rule that would make an enormous text stops at its bound of steps.
func TestFollowsIsBounded(t *testing.T) {
	var q encodedProduction
	q.To, q.Pieces = 1, []piece{{Hole: anyGap}}
	for range copiesMax {
		q.Outputs = append(q.Outputs, encodedOutput{From: fromSpan})
	}
	b, err := json.Marshal(encodedRule{format, []encodedProduction{q}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(strings.Repeat(strings.Repeat(" ", 1000)+"a", 1000))
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			NewFollower([]*Rule{r}).Follow("", "", text, text, []bool{true}, &Budget{})
		}
	}).AllocedBytesPerOp()
	if allocated > 1<<30 {
		t.Errorf("%d bytes for a text of 1 MB", allocated)
	}
}

// The bound of steps holds within one place, and counts what does not match.
func TestHostileRulesAreBounded(t *testing.T) {
	var copying, missing production
	copying.outputs = slices.Repeat([]output{{from: fromSpan}}, copiesMax)
	copying.to, copying.pieces = 1, []piece{{Hole: anyGap}}
	missing.parity, missing.pieces = 1, append(slices.Repeat([]piece{{Hole: anyToken}, {Hole: anyGap}}, 1000), piece{Hole: token.Number})
	for _, c := range []struct {
		q     production
		rules int
		text  string
	}{{copying, 16, strings.Repeat(" ", 1<<14)}, {missing, 64, strings.Repeat("a ", 1300)}} {
		all := make([]*Rule, c.rules)
		for i := range all {
			all[i] = &Rule{productions: slices.Repeat([]production{c.q}, productionsMax)}
		}
		p, steps, most := newPage("", "", []byte(c.text)), 0, 0
		_, ok := newSet(all).find(p, func(n int) bool {
			steps, most = steps+n, max(most, n)
			return steps < caseStepsMax
		})
		if ok || most > 2*caseStepsMax {
			t.Errorf("%d bytes: %v with %d steps, %d at once", len(c.text), ok, steps, most)
		}
	}
}
