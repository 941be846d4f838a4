package document_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/align"
	"muster/regress/internal/cause/document"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, ` [1, -2.5e3, "a\"b", true, null, {"k": []}] `: true, "{}\n{\"a\":1}\n": true, `[]`: true,
		``: false, `1`: false, `"a"`: false, `{} x`: false, `{`: false, `{"a"}`: false, `{"a":}`: false, `[1,]`: false, `[1 2]`: false,
		`{a: 1}`: false, "[\"a\nb\"]": false, `["\`: false, `[tru]`: false, `[section]`: false, `{"a":1,}`: false, `[--]`: true,
		strings.Repeat("[", 300) + strings.Repeat("]", 300): false,
	} {
		if _, _, got := document.ParseBoth([]byte(text), []byte("{}")); got != want {
			t.Errorf("%.40q: %v", text, got)
		}
	}
}

// A line is searched for a message only at its beginning.
func TestParseMessages(t *testing.T) {
	for line, want := range map[string]bool{
		"a.c:1: x": true, "a.c:1:2: " + strings.Repeat("x", 5000): true, "C:\\a b.c:1:2: x": true, "-:1: x": true,
		strings.Repeat("x", 5000) + ":1: y": false, "a.c:1:": false, "a.c:1: ": false, "a.c:x: y": false, ":1: x": false,
	} {
		if _, _, got := document.ParseBoth([]byte(line), nil); got != want {
			t.Errorf("%.40q: %v", line, got)
		}
	}
}

// What Go's package takes is a document, unless it is too deep or no object or list.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}],"c":"\u00e9\\"}`, "[1]\n[2]", `{"a":1`, `[]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _, got := document.ParseBoth(text, text)
		trimmed := strings.TrimLeft(string(text), " \t\r\n")
		if json.Valid(text) && trimmed[0] != '"' && strings.ContainsAny(trimmed[:1], "{[") && !got && strings.Count(trimmed, "[")+strings.Count(trimmed, "{") < 100 {
			t.Errorf("%q is no document", text)
		}
	})
}

func changes(t interface{ Fatalf(string, ...any) }, old, now string) (list []string, patched string) {
	a, b, ok := document.ParseBoth([]byte(old), []byte(now))
	if !ok {
		t.Fatalf("%q or %q is no document", old, now)
	}
	at, from := 0, 0
	var out strings.Builder
	document.Compare([]byte(old), []byte(now), a, b, &align.Aligner[uint64]{Work: 1 << 20}, func(c document.Change) {
		if c.Old.From < at || c.Now.From < from || old[at:c.Old.From] != now[from:c.Now.From] {
			t.Fatalf("%q → %q: something differs before %+v", old, now, c)
		}
		out.WriteString(old[at:c.Old.From] + now[c.Now.From:c.Now.To])
		at, from = c.Old.To, c.Now.To
		how := "between"
		if c.IsOrder {
			how = "order"
		} else if c.IsValue {
			how = old[c.Old.From:c.Old.To] + " → " + now[c.Now.From:c.Now.To]
		} else if len(c.OldValues)+len(c.NowValues) > 0 {
			how = fmt.Sprintf("-%d +%d", len(c.OldValues), len(c.NowValues))
		}
		list = append(list, c.Path+": "+how)
	})
	out.WriteString(old[at:])
	return list, out.String()
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ old, now, want string }{
		{`{"a": 1}`, `{"a": 2}`, "a: 1 → 2"},
		{`{"a": {"b": {"c": "x"}}}`, `{"a": {"b": {"c": null}}}`, `b.c: "x" → null`},
		{`[{"id": 1, "s": "a"}, {"id": 2, "s": "b"}]`, `[{"id": 2, "s": "b"}, {"id": 3, "s": "c"}]`, "$: -1 +0; $: -0 +1"},
		{`[{"id": 1, "s": "a"}, {"id": 2, "s": "b"}]`, `[{"id": 1, "s": "z"}, {"id": 2, "s": "b"}]`, `s: "a" → "z"`},
		{`[{"t":"p","a":0,"b":0,"c":0,"d":1}]`, `[{"t":"tr","a":0,"b":0,"c":0,"d":2}]`, "$: -1 +1"},
		{`[{"t":"p","a":0,"b":0,"c":0,"d":1}]`, `[{"t":"p","a":0,"b":0,"c":1,"d":2}]`, "c: 0 → 1; d: 1 → 2"},
		{`{"v":1,"x":[2],"y":3}`, `{"v":2,"x":[3],"y":4}`, "v: 1 → 2; x[]: 2 → 3; y: 3 → 4"},
		{`{"": {" ": 1}}`, `{"": {" ": 2}}`, `""." ": 1 → 2`},
		{`{"` + strings.Repeat("k", 50) + `": 1}`, `{"` + strings.Repeat("k", 50) + `": 2}`, strings.Repeat("k", 40) + "…: 1 → 2"},
		{`{"` + strings.Repeat("é", 50) + `": 1}`, `{"` + strings.Repeat("é", 50) + `": 2}`, strings.Repeat("é", 20) + "…: 1 → 2"},
		{`{"x` + strings.Repeat("é", 50) + `": 1}`, `{"x` + strings.Repeat("é", 50) + `": 2}`, "x" + strings.Repeat("é", 19) + "…: 1 → 2"},
		{"{\"a\xff" + strings.Repeat("\xff", 50) + `": 1}`, "{\"a\xff" + strings.Repeat("\xff", 50) + `": 2}`, "a" + strings.Repeat("\xff", 39) + "…: 1 → 2"},
		{`{"l": [1, 2, 3]}`, `{"l": [1, 3]}`, "l: -1 +0"},
		{`{"a": 1, "c": 2}`, `{"a": 1, "b": 0, "c": 2}`, "$: -0 +1"},
		{`{"a": 1}`, "{\n  \"a\": 1\n}", "$: between; $: between"},
		{"a.c:1:2: bad x\nFound 1 error.\n", "a.c:1:2: bad y\nNew\nFound 2 errors.\n", "message: bad x → bad y; $: -0 +1; $: Found 1 error. → Found 2 errors."},
		{"a.c:1:2: bad x\n", "All is well.\n", "$: -1 +1"},
		{`{"v": 1, "a": 2, "b": "x"}`, `{"v": 2, "b": "x", "a": 2}`, "v: 1 → 2; $: order"},
		{`{"a": 2, "b": "x"}`, `{"b": "y", "a": 2}`, `$: -1 +0; b: "x" → "y"; $: -0 +1`},
		{`[1, 2, 3, 4, 5]`, `[5, 1, 2, 3, 4]`, "$: -0 +1; $: -1 +0"},
		{`{"range": [3, 4]}`, `{"range": [4, 5]}`, "range[]: 3 → 4; range[]: 4 → 5"},
		{`[{"file": "a.c", "errors": [], "count": 0}]`, `[{"file": "a.c", "errors": [{"x": 1}], "count": 1}]`, "errors: -0 +1; count: 0 → 1"},
		{`[{"file": "a.c", "errors": [], "count": 0}]`, `[{"file": "b.c", "errors": [{"x": 1}], "count": 1}]`, "$: -1 +1"},
		{"{\"a\":1}\n{\"b\":1}\n", "{\"a\":1}\n{\"b\":2}\n", "b: 1 → 2"},
	} {
		list, patched := changes(t, c.old, c.now)
		if got := strings.Join(list, "; "); got != c.want || patched != c.now {
			t.Errorf("%s → %s: %s, want %s; patched %s", c.old, c.now, got, c.want, patched)
		}
	}
}

// An element before many others that changed too makes none of them another one: they are paired by their names.
func TestInsertedBeforeMany(t *testing.T) {
	list := func(from int, hash string) string {
		var all []string
		for i := range 100 - from {
			all = append(all, fmt.Sprintf(`{"kind": "k", "n": %d, "name": "f%d", "hash": "%s%d", "z": 1}`, i, i+from, hash, i+from))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	all, patched := changes(t, list(1, "a"), list(0, "b"))
	if len(all) != 1+2*99 || all[0] != "$: -0 +1" || all[1] != "n: 0 → 1" || all[2] != `hash: "a1" → "b1"` || patched != list(0, "b") {
		t.Errorf("%d changes: %q", len(all), all)
	}
}

// Whatever two documents are, the changes turn one into the other, and do not overlap.
func TestChangesAreExact(t *testing.T) {
	var value func(t *rapid.T, depth int) string
	value = func(t *rapid.T, depth int) string {
		gap := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n  "}).Draw(t, "gap") }
		if depth == 0 {
			return rapid.SampledFrom([]string{"1", "2", "-3e1", "true", "null", `"a"`, `"a b c d"`, `"a b c e"`, `"\""`, `{}`, `[]`}).Draw(t, "scalar")
		}
		var items []string
		isObject := rapid.Bool().Draw(t, "object")
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			item := gap() + value(t, depth-1) + gap()
			if isObject {
				item = gap() + rapid.SampledFrom([]string{`"a"`, `"b"`, `"c d"`}).Draw(t, "key") + ":" + item
			}
			items = append(items, item)
		}
		if isObject {
			return "{" + strings.Join(items, ",") + "}"
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	rapid.Check(t, func(t *rapid.T) {
		old, now := value(t, 3), value(t, 3)
		if _, patched := changes(t, old, now); patched != now {
			t.Fatalf("%q became %q, want %q", old, patched, now)
		}
	})
}
