package rule

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// Four edits that meet at the line breaks around a remark are each as they would be alone.
func TestEditsThatMeet(t *testing.T) {
	const old, now = "L1: ;\n        /* no. 7 */\n        print(7);\n", "L1:\n      put(7);\n"
	text := Text{Old: []byte(old), Now: []byte(now)}
	at := 0
	for i, e := range [...][2]string{{" ;", ""}, {"        ", "      "}, {"/* no. 7 */", ""}, {"\n        print", "put"}} {
		from := strings.Index(old[at:], e[0]) + at
		at = from + len(e[0])
		to := max(0, strings.Index(now, e[1]))
		text.Edits = append(text.Edits, cause.Attributed{LiteralEdit: cause.LiteralEdit{
			Old: cause.Span{From: from, To: at}, Now: cause.Span{From: to, To: to + len(e[1])},
		}, Cause: i})
	}
	p := newPage("", "", text.Old)
	changes := changesIn(p, text)
	if !makes(p, changes, text.Now) {
		t.Errorf("%+v", changes)
	}
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%d %q %q", c.cause, old[p.start(c.from):p.start(c.to)], textOf(c.now)))
	}
	want := []string{`0 " ;" ""`, `2 "\n        /* no. 7 */" ""`, `1 "\n        " "\n      "`, `3 "print" "put"`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Lines that are removed and another that is inserted in their place are each as they would be alone.
func TestLineInPlaceOfOthers(t *testing.T) {
	var old, now []string
	for i := range uint64(160) {
		old, now = append(old, plant(i, nil)), append(now, plant(i, func(kind int) bool { return kind == 4 || kind == 5 }))
	}
	texts, found := analyse(old, now)
	for i, r := range resultsOf(texts, found) {
		if r == nil || !r.Uniform {
			t.Errorf("%s: %+v", found.Causes[i].Name, r)
		}
	}
}

// A rule that removes lines says nothing of lines that only begin like them.
func TestWholeLines(t *testing.T) {
	var old, now []string
	for i := range 200 {
		text := fmt.Sprintf("a = %d;\n    /* %d */\nc%d b;\n", i, i, i)
		old, now = append(old, text), append(now, fmt.Sprintf("a = %d;\nc%d b;\n", i, i))
		if i >= 150 && !Trains(fmt.Sprintf("%05d", i)) {
			text = strings.Replace(text, "*/", fmt.Sprintf("*/ c%d = 1;", i), 1)
			old[i], now[i] = text, text
		}
	}
	if r := resultsOf(analyse(old, now))[0]; r == nil || r.Unchanged == 0 || r.Elsewhere > 0 || !r.Uniform {
		t.Errorf("%+v", r)
	}
}

// The sort of source that a case is about is a guard. A rule of programs says nothing of other sources.
func TestSortsOfSources(t *testing.T) {
	for _, sort := range []string{".bas", ".go"} {
		var old, now []string
		for i := range 80 {
			text := fmt.Sprintf("a = %d;\ncall b(%d);\n", i, i)
			old, now = append(old, text), append(now, strings.ReplaceAll(text, "call", "go"))
			if i >= 70 {
				now[i] = text
			}
		}
		texts, found := analyse(old, now)
		members := found.Members
		for i := range texts {
			texts[i].Name += ".bas"
			if i >= 70 {
				texts[i].Name = strings.TrimSuffix(texts[i].Name, ".bas") + sort
			}
		}
		for i := range members {
			members[i].Name += ".bas"
		}
		r := resultsOf(texts, found)[0]
		if r == nil || r.Unchanged != 10 || (sort == ".go") != (r.Elsewhere == 0) || r.Uniform != (sort == ".go") {
			t.Errorf("other sources end with %s: %+v", sort, r)
		}
	}
}
