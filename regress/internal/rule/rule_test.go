package rule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause"
	"muster/regress/internal/outcome"
)

// analyse returns the texts of cases with the edits and causes that package cause finds.
func analyse(old, now []string) (texts []Text, found *cause.Found) {
	key := outcome.Key{Place: outcome.Stdout}
	a := cause.New()
	for i := range old {
		texts = append(texts, Text{Name: fmt.Sprintf("%05d", i), Old: []byte(old[i]), Now: []byte(now[i])})
		if old[i] != now[i] {
			a.Add(cause.Case{Name: fmt.Sprintf("%05d", i), Parts: []cause.Part{{
				Key: key, Old: &outcome.Part{Key: key}, Now: &outcome.Part{Key: key}, OldText: texts[i].Old, NowText: texts[i].Now,
			}}})
		}
	}
	found = a.Causes()
	for _, m := range found.Members {
		var i int
		fmt.Sscanf(m.Name, "%d", &i)
		texts[i].Edits = m.Parts[0].Edits
	}
	return texts, found
}

// plant writes programs. Each has statements that change and others that look like them.
func plant(seed uint64, change func(kind int) bool) string {
	r := rand.New(rand.NewPCG(seed, 3))
	word := func() string {
		return []string{"alpha", "beta", "gamma", "delta", "omega", "sigma"}[r.IntN(6)] + string(rune('a'+r.IntN(26)))
	}
	var b strings.Builder
	either := func(kind int, old, now string) string {
		if change != nil && change(kind) {
			return now
		}
		return old
	}
	fmt.Fprintf(&b, "#include <stdio.h>\n%s#include \"rt.h\"\n\nbegin;\n", either(0, "", "#include <stdint.h>\n"))
	for range 14 + r.IntN(24) {
		x, y, n := word(), word(), r.IntN(1000)
		switch r.IntN(11) {
		case 0: // <= in loops, not in conditions
			fmt.Fprintf(&b, "    for (%s = 0; %s %s %d; %s++) {\n    }\n", x, x, either(1, "<=", "<"), n, x)
		case 1:
			fmt.Fprintf(&b, "    if (%s <= %d) return;\n", x, n)
		case 2: // two edits, and a hole between them
			fmt.Fprintf(&b, "    print(%s);\n", either(2, x+" + "+y, "(double)("+x+" + "+y+")"))
		case 3: // what is replaced repeats the word before it
			fmt.Fprintf(&b, "    %s %s %d;\n", x, either(3, "= "+x+" +", "+="), n)
		case 4: // a whole line with any text
			b.WriteString(either(4, fmt.Sprintf("    /* %s %s */\n", x, y), ""))
		case 5: // a line that is new before lines of a kind
			fmt.Fprintf(&b, "%s    call %s;\n", either(5, "", "    check;\n"), x)
		case 6: // the new text has a word from behind the place
			fmt.Fprintf(&b, "    %s %s;\n", either(6, "zero", "xor "+x+","), x)
		case 9: // lines that are joined, whatever their indent
			fmt.Fprintf(&b, "    if (%s)%sstop;\n", x, either(8, "\n"+strings.Repeat(" ", 5+r.IntN(30)), " "))
		case 10:
			fmt.Fprintf(&b, "    while (%s)\n        stop;\n", x)
		case 7:
			fmt.Fprintf(&b, "    %s = %s_ + %d;\n", x, y, n)
		default: // an indent
			fmt.Fprintf(&b, "%sgoto %s;\n", either(7, "    ", "  "), x)
		}
	}
	return b.String()
}

const plantedKinds = 9

// resultsOf learns the rules of all causes, and returns what they do in all cases.
func resultsOf(texts []Text, found *cause.Found) (results []*cause.Rule) {
	var budget Budget
	var rules []*Rule
	var background []Text
	for _, t := range texts {
		if Trains(t.Name) && len(t.Edits) == 0 {
			background = append(background, t)
		}
	}
	for i := range found.Causes {
		var changed []Text
		for _, t := range texts {
			if m, known := found.Member(t.Name); known && Trains(t.Name) && slices.Contains(m.Causes, i) {
				changed = append(changed, t)
			}
		}
		rules = append(rules, Learn(i, changed, background, &budget))
	}
	b := NewBook(rules, &budget)
	for _, t := range texts {
		if m, known := found.Member(t.Name); known {
			b.Changed(t.Name, []Text{t}, m.Causes)
		} else {
			b.Unchanged(t.Name, []Text{t})
		}
	}
	for i := range rules {
		results = append(results, b.Result(i))
	}
	return results
}

// Each planted change is reproduced byte for byte in the cases that its rule was not learned from.
func TestPlantedRules(t *testing.T) {
	for kind := range plantedKinds {
		var old, now []string
		for i := range uint64(160) {
			old = append(old, plant(i, nil))
			now = append(now, plant(i, func(k int) bool { return k == kind }))
		}
		texts, found := analyse(old, now)
		for i, r := range resultsOf(texts, found) {
			if r == nil || !r.Uniform || r.Forgotten > 0 {
				t.Errorf("change %d: %s: %+v", kind, found.Causes[i].Name, r)
			}
		}
	}
}

// A change that was forgotten at a tenth of its places is found there, and nowhere else.
func TestForgottenPlaces(t *testing.T) {
	for kind := range plantedKinds {
		var old, now, full []string
		r := rand.New(rand.NewPCG(1, 1))
		for i := range uint64(600) {
			old = append(old, plant(i, nil))
			full = append(full, plant(i, func(k int) bool { return k == kind }))
			now = append(now, plant(i, func(k int) bool { return k == kind && r.IntN(10) > 0 }))
		}
		texts, found := analyse(old, now)
		truth, _ := analyse(now, full) // what was forgotten, as edits
		forgotten := map[string]bool{}
		for i, t := range truth {
			for _, e := range t.Edits {
				forgotten[texts[i].Name+lineAt(t.Old, lineOf(t.Old, e.Old.From))] = true
			}
		}
		hits, wrong := map[string]bool{}, 0
		for _, r := range resultsOf(texts, found) {
			if r == nil {
				continue
			}
			for _, f := range r.Examples {
				i := slices.IndexFunc(texts, func(t Text) bool { return t.Name == f.Case })
				if k := f.Case + lineAt(texts[i].Old, f.Line); forgotten[k] {
					hits[k] = true
				} else {
					wrong++
				}
			}
		}
		if len(hits)*100 < 95*min(len(forgotten), examplesMax) || wrong > 0 {
			t.Errorf("change %d: %d of %d forgotten places, %d others", kind, len(hits), len(forgotten), wrong)
		}
	}
}

// lineOf returns the line of a place, from 1. A place at the end of a line is in the next one.
func lineOf(text []byte, at int) int {
	for at < len(text) && text[at] == '\n' {
		at++
	}
	return 1 + strings.Count(string(text[:at]), "\n")
}

func lineAt(text []byte, n int) string {
	return strings.TrimSpace(strings.Split(string(text), "\n")[n-1])
}

// A text that was empty has a rule too, and the other stream, which is empty as well, is no forgotten place.
func TestEmptyText(t *testing.T) {
	var old, now []string
	for i := range 60 {
		old, now = append(old, ""), append(now, "All checks passed!\n")
		if i%2 == 0 {
			old[i] = fmt.Sprintf("Found %d errors.\n", i)
			now[i] = old[i]
		}
	}
	texts, found := analyse(old, now)
	both := func(s Text) []Text { return []Text{s, {Name: s.Name, Part: "stderr"}} }
	var changed []Text
	for _, s := range texts {
		if s.Part = "stdout"; Trains(s.Name) && len(s.Edits) > 0 {
			changed = append(changed, both(s)...)
		}
	}
	var budget Budget
	b := NewBook([]*Rule{Learn(0, changed, nil, &budget)}, &budget)
	for _, s := range texts {
		s.Part = "stdout"
		if m, known := found.Member(s.Name); known {
			b.Changed(s.Name, both(s), m.Causes)
		} else {
			b.Unchanged(s.Name, both(s))
		}
	}
	if r := b.Result(0); r == nil || !r.Uniform {
		t.Errorf("%+v", r)
	}
}

// A change that nothing in the text decides has no rule that speaks.
func TestHiddenReason(t *testing.T) {
	for _, share := range []int{2, 3, 5, 9} {
		var old, now []string
		r := rand.New(rand.NewPCG(7, uint64(share)))
		for i := range uint64(300) {
			changes := r.IntN(share) > 0 // for the whole case
			old = append(old, plant(i, nil))
			now = append(now, plant(i, func(kind int) bool { return kind == 1 && changes }))
		}
		texts, found := analyse(old, now)
		for _, r := range resultsOf(texts, found) {
			if r != nil && (r.Uniform || r.Forgotten > 0) {
				t.Errorf("%d in %d cases: %+v", share-1, share, r)
			}
		}
	}
}

// A cause is uniform only if the half that its rule was learned from follows, too, and if all its cases were read.
func TestUniformIsAboutAllCases(t *testing.T) {
	for _, odd := range []string{"left", "unread", "no edits"} {
		var old, now []string
		last := -1
		for i := range 40 {
			old, now = append(old, fmt.Sprintf("a %d\ncall print(x)\nb\n", i)), append(now, fmt.Sprintf("a %d\ncall out(x)\nb\n", i))
			if Trains(fmt.Sprintf("%05d", i)) {
				last = i
			}
		}
		if odd == "left" {
			old[last], now[last] = old[last]+"call print(x)\nb\n", now[last]+"call print(x)\nb\n"
		}
		texts, found := analyse(old, now)
		var budget Budget
		var changed []Text
		for _, s := range texts {
			if Trains(s.Name) {
				changed = append(changed, s)
			}
		}
		b := NewBook([]*Rule{Learn(0, changed, nil, &budget)}, &budget)
		for i, s := range texts {
			m, _ := found.Member(s.Name)
			switch {
			case i == last && odd == "unread":
				b.Unread(m.Causes)
			case i == last && odd == "no edits":
				b.Changed(s.Name, []Text{{Name: s.Name, Old: s.Old, Now: s.Old}}, m.Causes)
			default:
				b.Changed(s.Name, []Text{s}, m.Causes)
			}
		}
		if r := b.Result(0); len(found.Causes) != 1 || r == nil || r.Uniform || r.Cases == 0 {
			t.Errorf("%s: %+v", odd, r)
		}
	}
}

// Each production keeps some of the places that were left, and counts all.
func TestManyForgottenPlaces(t *testing.T) {
	var old, now []string
	for i := range 3000 {
		s := fmt.Sprintf("a %d\ncall print(x)\nb\ncall print(y)\nc\n", i)
		line := "call print(x)"
		if i%2 == 0 {
			line = "call print(y)"
		}
		old = append(old, s+s+s)
		now = append(now, strings.ReplaceAll(s+s+s, "print", "out"))
		if i%10 == 0 {
			now[i] = strings.Replace(now[i], strings.ReplaceAll(line, "print", "out"), line, 1)
		}
	}
	texts, found := analyse(old, now)
	r := resultsOf(texts, found)[0]
	if r == nil || r.Forgotten != 300 || r.ForgottenCases != 300 || len(r.Examples) != examplesMax {
		t.Errorf("%+v", r)
	}
}

// A place that the cause changes in another way was not left as it was.
func TestOtherChangeIsNotForgotten(t *testing.T) {
	var texts []Text
	for i := range 100 {
		s := Text{Name: fmt.Sprintf("%05d", i)}
		for n := range 4 {
			word := "out"
			if i%20 == 0 && n == 2 {
				word = "shout"
			}
			s.Old = fmt.Appendf(s.Old, "a %d\ncall ", i)
			s.Now = fmt.Appendf(s.Now, "a %d\ncall ", i)
			e := cause.LiteralEdit{Old: cause.Span{From: len(s.Old), To: len(s.Old) + len("print")}, Now: cause.Span{From: len(s.Now), To: len(s.Now) + len(word)}}
			s.Edits = append(s.Edits, cause.Attributed{LiteralEdit: e})
			s.Old, s.Now = append(s.Old, "print(x)\n"...), fmt.Appendf(s.Now, "%s(x)\n", word)
		}
		texts = append(texts, s)
	}
	var budget Budget
	var changed []Text
	for _, s := range texts {
		if Trains(s.Name) {
			changed = append(changed, s)
		}
	}
	b := NewBook([]*Rule{Learn(0, changed, nil, &budget)}, &budget)
	for _, s := range texts {
		b.Changed(s.Name, []Text{s}, []int{0})
	}
	if r := b.Result(0); r == nil || r.Explained == 0 || r.Uniform || r.Forgotten > 0 {
		t.Errorf("%+v", r)
	}
}

// A rule that matches where another cause makes a different text is wrong there. Such causes are uniform only if a guard
// separates their places.
func TestContradictingCauses(t *testing.T) {
	for _, c := range []struct {
		what, old, usual, odd string
		isSeen                bool // the text shows which of the two it is
	}{
		{"words", "%[2]s foo x", "%[2]s bar x", "%[2]s baz x", false}, {"words in places", "%[2]s foo x", "%[2]s bar x", "%[2]s baz x", true},
		{"insertions", "%[2]s foo x", "%[2]s foo left x", "%[2]s foo right x", false},
		{"removals beside", "%[2]s foo; x", "%[2]s bar x", "%[2]s foo x", false},
	} {
		var old, now []string
		for i := range 400 {
			was, is := "", ""
			for range 6 {
				isOdd := i%10 == 0
				line, place := c.usual, "at"
				if isOdd {
					line = c.odd
				}
				if isOdd && c.isSeen {
					place = "in"
				}
				was += fmt.Sprintf("a%d\n"+c.old+"\n", i, place)
				is += fmt.Sprintf("a%d\n"+line+"\n", i, place)
			}
			old, now = append(old, was), append(now, is)
		}
		texts, found := analyse(old, now)
		for i, r := range resultsOf(texts, found) {
			if i == 0 && (r == nil || r.Uniform != c.isSeen || r.Forgotten > 0) {
				t.Errorf("%s: %s: %+v", c.what, found.Causes[i].Name, r)
			}
		}
	}
}

// Two edits in the same whitespace are not what a rule makes: such a case does not follow byte for byte.
func TestTwoEditsInOneGap(t *testing.T) {
	var old, now []string
	for i := range 40 {
		old, now = append(old, fmt.Sprintf("a %d\nb\n", i)), append(now, fmt.Sprintf("a %d \n b\n", i))
	}
	texts, found := analyse(old, now)
	for i := range texts {
		at := len(texts[i].Old) - len("\nb\n")
		texts[i].Edits = []cause.Attributed{
			{LiteralEdit: cause.LiteralEdit{Old: cause.Span{From: at, To: at}, Now: cause.Span{From: at, To: at + 1}}},
			{LiteralEdit: cause.LiteralEdit{Old: cause.Span{From: at + 1, To: at + 1}, Now: cause.Span{From: at + 2, To: at + 3}}},
		}
	}
	if r := resultsOf(texts, found)[0]; r == nil || r.Exact > 0 || r.Uniform {
		t.Errorf("%+v", r)
	}
}

// When the time is over, nothing more is learned or read, and that is said. The first steps do not depend on the clock.
func TestTimeIsBounded(t *testing.T) {
	var old, now []string
	for i := range uint64(100) {
		old, now = append(old, plant(i, nil)), append(now, plant(i, func(int) bool { return true }))
	}
	texts, _ := analyse(old, now)
	over := func() bool { return true }
	late := &Budget{Over: over}
	if r := Learn(0, texts, nil, late); r != nil || late.TakeCase() {
		t.Errorf("%d productions, and the time was over", len(r.productions))
	}
	r := Learn(0, texts, nil, &Budget{Free: 1e9, Over: over})
	if r == nil || len(r.productions) == 0 {
		t.Fatal("the clock was read in the free steps")
	}
	b := NewBook([]*Rule{r}, late)
	for i := range texts {
		b.Changed(texts[i].Name, texts[i:i+1], []int{0})
	}
	if got := b.Result(0); got == nil || got.Uniform || got.Cases != 0 || got.Unread != len(texts) {
		t.Errorf("%+v: nothing was read", got)
	}
}

// No text, however broken, ends a replay. A case is exact only if its changes make the new text.
func FuzzChanges(f *testing.F) {
	f.Add("a\n\n    b(c)\n", "a\n    b((c))\n\td\n", "b(c)\r\n")
	f.Add("", "x", "")
	f.Add("/* a */\n/* b */\nc", "c", "/* a */")
	f.Add("\xff\xc0 a\x80\r\n\xff\xc0 a\x80\r\n", "\xff\xc0 (a)\x80\r\n\xff\xc0 (a)\x80\r\n", "\xff\xc0 a\x80")
	f.Add(" \n\t\n", " \n\t\n \n\t\n", "\n")
	f.Add("\n", " \n ", "0") // two edits in the same whitespace
	f.Add("x\nx\nx\nx", "x\nx\n", "x\nx\nx\nx\n")
	f.Fuzz(func(t *testing.T, old, now, other string) {
		texts, found := analyse([]string{old}, []string{now})
		if len(found.Members) == 0 || len(texts[0].Edits) == 0 { // equal, or not texts
			return
		}
		p := newPage(texts[0].Name, texts[0].Part, texts[0].Old)
		whole := makes(p, changesIn(p, texts[0]), texts[0].Now)
		var budget Budget
		both := append(texts, Text{Name: "b", Old: texts[0].Old, Now: texts[0].Now, Edits: texts[0].Edits})
		b := NewBook([]*Rule{Learn(0, both, nil, &budget)}, &budget)
		heldOut := "c"
		for Trains(heldOut) {
			heldOut += "c"
		}
		b.Changed(heldOut, texts, []int{0})
		b.Unchanged("c", []Text{{Name: "c", Old: []byte(other), Now: []byte(other)}, {Name: "c", Old: []byte(now), Now: []byte(now)}})
		if r := b.Result(0); r != nil && r.Exact > 0 && !whole {
			t.Errorf("%q → %q: the changes do not make it, and yet %+v", old, now, r)
		}
	})
}
