package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestExamples(t *testing.T) {
	text := "# Tabs\n\n" + fence + " example\n→foo\n.\n<pre>foo</pre>\n" + fence + "\nand\n" + fence + " example\n- a\n.\n" + fence + "\n"
	got := examples(text)
	if len(got) != 2 || got[0].text != "\tfoo\n" || got[1].text != "- a\n" || got[1].name != "spec/002.md" {
		t.Errorf("examples = %q", got)
	}
}

// kept writes causes.json as muster does: causes c0, c1 … with edits of one case.
func kept(t *testing.T, causes int, edits ...edit) found {
	t.Helper()
	var b []byte
	var old, now int
	for _, e := range edits {
		for _, n := range []int{e.old.from - old, e.old.to - e.old.from, e.now.from - now, e.now.to - e.now.from, e.cause} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		old, now = e.old.to, e.now.to
	}
	var list []string
	for i := range causes {
		list = append(list, fmt.Sprintf(`{"id":"G%d","signature":"c%d","name":"c%d","kind":"edit","lines":1}`, i+1, i, i))
	}
	f, err := decode(fmt.Appendf(nil, `{"version":1,"causes":[%s],"members":[{"name":"YQ==","causes":[0],"parts":[{"place":0,"edits":"%s"}]}]}`,
		strings.Join(list, ","), base64.StdEncoding.EncodeToString(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDecode(t *testing.T) {
	want := []edit{{span{3, 5}, span{3, 4}, 0}, {span{9, 9}, span{8, 20}, 1}}
	f := kept(t, 2, want...)
	if got := f.members[0]; got.name != "a" || got.parts[0].edits[0] != want[0] || got.parts[0].edits[1] != want[1] {
		t.Errorf("decode = %+v", got)
	}
	if _, err := decode([]byte(`{"version":2}`)); err == nil {
		t.Error("another version is read")
	}
}

// Two changes alone, c0 each, and both at once: a merged edit is right for one of them.
func TestAttribute(t *testing.T) {
	one := kept(t, 1, edit{old: span{0, 2}}, edit{old: span{10, 12}}, edit{old: span{20, 22}})
	two := kept(t, 1, edit{old: span{2, 4}}, edit{old: span{30, 30}})
	together := kept(t, 2,
		edit{span{0, 2}, span{}, 0}, edit{span{2, 4}, span{}, 1}, edit{span{10, 12}, span{}, 0}, edit{span{20, 22}, span{}, 1}, edit{span{30, 30}, span{}, 1}, edit{span{40, 41}, span{}, 0})
	got := attribute([]found{one, two}, together)
	want := truth{instances: 5, right: 4, same: 2, edits: 6, strange: 2}
	want.changes = []share{{3, 2, "a at byte 20 is of c1"}, {2, 2, ""}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("attribute = %+v, want %+v", got, want)
	}
}

// What another change takes away cannot be right, and is not counted.
func TestAttributeLeavesOutWhatIsGone(t *testing.T) {
	one := kept(t, 1, edit{old: span{0, 9}})
	two := kept(t, 1, edit{old: span{4, 6}, now: span{4, 5}}, edit{old: span{20, 22}, now: span{19, 20}})
	together := kept(t, 2, edit{span{0, 9}, span{}, 0}, edit{span{20, 22}, span{10, 11}, 1})
	got := attribute([]found{one, two}, together)
	want := truth{instances: 2, gone: 1, right: 2, same: 1, edits: 2, changes: []share{{1, 1, ""}, {1, 1, ""}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("attribute = %+v, want %+v", got, want)
	}
}

func TestChanged(t *testing.T) {
	text, lines := changed(map[string]string{"stdout": "a\n-- b\nc\n"}, map[string]string{"stdout": "a\nc\nd\ne\n"})
	if want := "stdout\n--- b\n+d\n+e\n"; string(text) != want || lines != 2 {
		t.Errorf("changed = %q, %d lines, want %q, 2", text, lines, want)
	}
}

func TestAround(t *testing.T) {
	got := around("-", []byte("one\ntwo three\nfour\nfive\n"), span{8, 13})
	if want := "-one\n-two ⟦three⟧\n-four\n"; got != want {
		t.Errorf("around = %q, want %q", got, want)
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-muster", "x", "-only", "gofmt,cobol"}, {"-only", "gofmt"}, {"-lines", "x"}} {
		if _, err := parse(args, new(strings.Builder)); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	o, err := parse([]string{"-muster", "x", "-cache", "c"}, new(strings.Builder))
	if err != nil || len(o.only) != 33 {
		t.Errorf("parse = %+v, %v", o.only, err)
	}
}

// The cause that settles most further cases comes first; one alone of two causes settles no case.
func TestSettled(t *testing.T) {
	f := found{causes: make([]cause, 4), members: []member{{causes: []int{0}}, {causes: []int{1}}, {causes: []int{1, 2}}, {causes: []int{1, 3}}}}
	for n, want := range []float64{0, 0.25, 0.5, 0.75, 1} {
		if got := f.settledBy(n); got != want {
			t.Errorf("%d causes settle %v, want %v", n, got, want)
		}
	}
}
