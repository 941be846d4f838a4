package cause_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/cause"
)

// JSON is compared by its structure: a value by its path, whatever else it contains.
func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		what     string
		old, now func(i int) string
		want     string
	}{
		{"a sentence around names", func(i int) string { return fmt.Sprintf(`[{"id": 1, "message": "Do not use %s here"}]`, word(i)) },
			func(i int) string {
				return fmt.Sprintf(`[{"id": 1, "message": "Avoid the name %s"}]`, strings.Repeat(word(i)+" ", i))
			}, `"Do not …" → "Avoid the …" at message`},
		{"a text that lost its beginning", func(i int) string { return fmt.Sprintf(`{"n": 1, "text": "a link to %s and %d is it"}`, word(i), i) },
			func(i int) string { return fmt.Sprintf(`{"n": 1, "text": "%d is it"}`, i) }, `"… END" → END at text`},
		{"a text with more before it", func(i int) string { return fmt.Sprintf(`{"n": 1, "text": "see %s"}`, word(i)) },
			func(i int) string { return fmt.Sprintf(`{"n": 1, "text": "see %s or the index of %d"}`, word(i), i) }, `START → "START …" at text`},
		{"a number", func(i int) string { return fmt.Sprintf(`{"at": {"row": %d, "column": 3}}`, i) },
			func(i int) string { return fmt.Sprintf(`{"at": {"row": %d, "column": 3}}`, i+i%3+1) }, `#1 → #2 at at.row`},
		{"a member", func(i int) string { return fmt.Sprintf(`{"a": %d}`, i) }, func(i int) string { return fmt.Sprintf("{\"a\": %d,\n \"new\": \"x%d\"}", i, i) }, `+ "new" at the top level`},
		{"members", func(i int) string { return fmt.Sprintf(`{"a": %d}`, i) }, func(i int) string { return fmt.Sprintf(`{"a": %d, "one": 1, "two": 2}`, i) }, `+ "one two" at the top level`},
		{"elements", func(i int) string { return `[{"a": 1, "b": 2}]` + "\n" },
			func(i int) string { return `[{"a": 1, "b": 2}` + strings.Repeat(`, {"c": "x"}`, i+1) + "]\n" }, `+ {…} at the top level`},
		{"a value of another kind", func(i int) string { return `{"l": [{"fix": null, "n": ` + fmt.Sprint(i) + `}]}` },
			func(i int) string { return `{"l": [{"fix": {"by": "` + word(i) + `"}, "n": ` + fmt.Sprint(i) + `}]}` }, `"null" → {…} at l[].fix`},
		{"a number that was a string", func(i int) string { return fmt.Sprintf(`{"n": "%d"}`, i) }, func(i int) string { return fmt.Sprintf(`{"n": %d}`, i) }, `'"#1"' → #1 at n`},
		{"null that was a string", func(int) string { return `{"n": "null"}` }, func(int) string { return `{"n": null}` }, `'"null"' → "null" at n`},
		{"an empty string", func(int) string { return `{"s": ""}` }, func(int) string { return `{"s": "x"}` }, `'""' → "x" at s`},
		{"an empty string and a number", func(int) string { return `{"s": ""}` }, func(int) string { return `{"s": 5}` }, `'""' → "5" at s`},
		{"members in another order", func(i int) string { return fmt.Sprintf(`{"v": "x", "a": %d, "b": [1], "c": {}}`, i) },
			func(i int) string {
				return fmt.Sprintf([]string{`{"v": "x", "c": {}, "b": [1], "a": %d}`, `{"v": "x", "b": [1], "c": {}, "a": %d}`}[i%2], i)
			}, `MOVE … at the top level`},
		{"elements in another order", func(i int) string { return fmt.Sprintf(`{"l": ["a%d", "b", "c"]}`, i) }, func(i int) string { return fmt.Sprintf(`{"l": ["c", "a%d", "b"]}`, i) }, `MOVE … in l`},
		{"lines in another order", func(i int) string { return fmt.Sprintf("a.c:1:2: bad x%d\na.c:3:4: never y\nb.c:1:1: z\n", i) },
			func(i int) string { return fmt.Sprintf("a.c:3:4: never y\na.c:1:2: bad x%d\nb.c:1:1: z\n", i) }, `MOVE … at the top level`},
		{"a quote within text", func(i int) string {
			return fmt.Sprintf(`{"text": "a long %s text, and it's the same but for one sign"}`, word(i))
		},
			func(i int) string {
				return fmt.Sprintf(`{"text": "a long %s text, and it’s the same but for one sign"}`, word(i))
			}, `"'" → "’"`},
		{"no document on one side", func(i int) string { return `{"a": 1, "b": "x"}` }, func(i int) string { return `{"a": 1, "b": "x"},` }, `+ ","`},
	} {
		var cases []cause.Case
		for i := range 12 {
			cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), c.old(i), c.now(i)))
		}
		found := analyseCases(cases...)
		checkReplay(t, found, cases)
		var names []string
		for _, g := range found.Causes {
			names = append(names, g.Name)
		}
		if len(names) != 1 || !strings.HasPrefix(names[0], c.want) {
			t.Errorf("%s: %q, want %q", c.what, names, c.want)
		}
	}
}

func word(i int) string { return "w" + string(rune('a'+i)) }

// A number that was a string is another change than a number that was another one.
func TestStringsAreNoNumbers(t *testing.T) {
	var cases []cause.Case
	for i := range 12 {
		old := `{"n": 1}`
		if i%2 == 0 {
			old = `{"n": "1"}`
		}
		cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), old, `{"n": 2}`))
	}
	if found := analyseCases(cases...); len(found.Causes) != 2 || found.Causes[0].Cases != 6 {
		t.Errorf("%d causes%s", len(found.Causes), causeList(found))
	}
}

// Counts at the end of diagnostics are one cause, wherever the line has them, and a path may have a drive.
func TestCountsOfDiagnostics(t *testing.T) {
	for _, form := range []string{"Found %d errors.", "%d errors", "Found %d errors in 1 file (checked 1 source file)"} {
		var cases []cause.Case
		for i := range 60 {
			output := func(n int) string {
				return strings.Repeat("C:\\a b.c:1:2: bad thing here\n", n) + fmt.Sprintf(form+"\n", n)
			}
			cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), output(i%9+2), output(i%9+1)))
		}
		found := analyseCases(cases...)
		checkReplay(t, found, cases)
		if len(found.Causes) != 2 || found.Causes[0].Name != `- "bad thing here"` || found.Causes[1].Name != `#1 → #2 before errors` {
			t.Errorf("%s%s", form, causeList(found))
		}
	}
}

// One wrong number among many right ones at its path is a cause of its own.
func TestNumberInManyCases(t *testing.T) {
	var cases []cause.Case
	for i := range 40 {
		now := i + 7
		if i%2 == 0 {
			now = 99
		}
		old := i
		if i%2 == 0 {
			old = 98
		}
		cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), fmt.Sprintf(`{"n": %d}`, old), fmt.Sprintf(`{"n": %d}`, now)))
	}
	found := analyseCases(cases...)
	if !slices.ContainsFunc(found.Causes, func(c cause.Cause) bool { return c.Name == `"98" → "99" at n` && c.Cases == 20 }) {
		t.Errorf("%+v", found.Causes)
	}
}

// Whitespace between the values of JSON has no place: who lays out all anew makes few causes. A line end behind the last
// value is another matter.
func TestLayoutOfDocuments(t *testing.T) {
	packed := func(i int) string { return fmt.Sprintf(`{"a": %d, "b": ["x", {"c": %d}, []]}`, i, i) }
	for _, c := range []struct {
		now  func(i int) string
		want []string
	}{
		{func(i int) string {
			return fmt.Sprintf("{\n  \"a\": %d,\n  \"b\": [\n    \"x\",\n    {\n      \"c\": %d\n    },\n    []\n  ]\n}", i, i)
		}, []string{"no space → line break", "space → line break"}},
		{func(i int) string { return strings.ReplaceAll(packed(i), " ", "") }, []string{"space → no space"}},
		{func(i int) string { return packed(i) + "\n" }, []string{"no space → line break behind }"}},
	} {
		var cases []cause.Case
		for i := range 12 {
			cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), packed(i), c.now(i)))
		}
		found := analyseCases(cases...)
		checkReplay(t, found, cases)
		var names []string
		for _, g := range found.Causes {
			names = append(names, g.Name)
		}
		if slices.Sort(names); !slices.Equal(names, c.want) {
			t.Errorf("%q, want %q", names, c.want)
		}
	}
}

// Indexes that shift by one are one cause, though all cases show the small ones.
func TestShiftedIndexes(t *testing.T) {
	var cases []cause.Case
	for i := range 12 {
		list := func(first string) string {
			var all []string
			for k := range 5 + i {
				all = append(all, fmt.Sprintf(`{"n": %d, "name": "f%d"}`, k+len(first)/20, k))
			}
			return "[" + first + strings.Join(all, ", ") + "]"
		}
		cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), list(""), list(`{"n": 0, "name": "new"}, `)))
	}
	found := analyseCases(cases...)
	if len(found.Causes) != 2 || found.Causes[0].Name != `+ {…} at the top level` || found.Causes[1].Name != `#1 → #2 at n` {
		t.Errorf("%d causes%s", len(found.Causes), causeList(found))
	}
}

// Keys that are data, such as names of files, are no places of their own, in cases seen and unseen.
func TestKeysThatAreData(t *testing.T) {
	for _, c := range []struct {
		old, now, want string
		isUnseen       bool // whether the cause stands for cases that were not there
	}{
		{`{"src/%[1]s": {"n": %[2]d}}`, `{"src/%[1]s": {"n": 1%[2]d}}`, `#1 → #2 at *.n`, false},
		{`{"files": {"%[1]s": {"m": "x", "n": %[2]d}}}`, `{"files": {"%[1]s": {"m": "x", "n": %[2]d, "new": 1}}}`, `+ "new" in files.*`, true},
		{`{"%[1]s": {"l": ["%[1]s", "b", "c"]}}`, `{"%[1]s": {"l": ["c", "%[1]s", "b"]}}`, `MOVE … in *.l`, true},
		{"a.c:1:1: x\n%[1]s %[2]d\n", "a.c:1:1: x\n%[1]s 1%[2]d\n", `#1 → #2 behind *`, false},
		{`{"%[1]s": [{"id": 1, "s": "Do not use %[1]s here"}]}`, `{"%[1]s": [{"id": 1, "s": "Avoid the name %[1]s"}]}`, `"Do not …" → "Avoid the …" at *[].s`, false},
	} {
		one := func(i int) cause.Case {
			name := word(i%26) + word(i/26)
			return changedCase(fmt.Sprintf("case%02d", i), fmt.Sprintf(c.old, name, i), fmt.Sprintf(c.now, name, i))
		}
		var cases []cause.Case
		for i := range 60 {
			cases = append(cases, one(i))
		}
		found := analyseCases(cases...)
		checkReplay(t, found, cases)
		if len(found.Causes) != 1 || found.Causes[0].Name != c.want {
			t.Errorf("want %s%s", c.want, causeList(found))
			continue
		}
		index := cause.NewIndex(found.Causes)
		for _, asked := range cases {
			if shown, all := index.Explain(asked); len(shown) != 1 || !all {
				t.Errorf("%s: %s shows %v, %v", c.want, asked.Name, shown, all)
			}
		}
		if shown, all := index.Explain(one(70)); all != c.isUnseen || all && len(shown) != 1 {
			t.Errorf("%s: an unseen case shows %v, %v", c.want, shown, all)
		}
	}
}

// Few keys are places of their own, however rare they are.
func TestKeysThatArePlaces(t *testing.T) {
	var cases []cause.Case
	for i := range 60 {
		key := []string{"line", "column", "end", "size"}[i%4]
		cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), fmt.Sprintf(`{"%s": {"n": %d}}`, key, i), fmt.Sprintf(`{"%s": {"n": %d}}`, key, i+1)))
	}
	if found := analyseCases(cases...); len(found.Causes) != 4 {
		t.Errorf("%d causes%s", len(found.Causes), causeList(found))
	}
}

// A finding of a tool is a record. If its message, its column and its fix always change together, that is one
// cause, even if the tool has several new messages. A wrong constant in some of the records is another one.
func TestRecordsOfOneChange(t *testing.T) {
	finding := func(column int, message, fix, level string) string {
		return fmt.Sprintf(`{"code": "E1", "cell": null, "row": 3, "file": "a.py", "column": %d, "message": "%s", "fix": {"message": "%s"}, "level": %s, "url": "x"}`, column, message, fix, level)
	}
	messages := []string{"Avoid one sort of comparison", "Avoid the other sort", "Use a comparison by identity"}
	var cases []cause.Case
	for i := range 40 {
		var old, now []string
		for k := range 3 {
			level := "1"
			if i%3 == 0 && k == 0 {
				level = "2"
			}
			old = append(old, finding(i+k, "Comparison should be another one", "Replace it", "1"))
			now = append(now, finding(i+k+4+k, messages[(i+k)%3], "Replace the comparison", level))
			same := fmt.Sprintf(`{"code": "E2", "cell": null, "row": 3, "file": "a.py", "column": %d, "message": "Unrelated %d", "fix": null, "level": 1, "url": "x"}`, 100*i+k, k)
			old, now = append(old, same), append(now, same)
		}
		cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), "["+strings.Join(old, ",\n")+"]\n", "["+strings.Join(now, ",\n")+"]\n"))
	}
	found := analyseCases(cases...)
	checkReplay(t, found, cases)
	if len(found.Causes) != 2 || found.Causes[0].Cases != 40 || found.Causes[1].Name != `"1" → "2" at level` || found.Causes[1].Cases != 14 {
		for _, c := range found.Causes {
			t.Errorf("%s in %d cases", c.Name, c.Cases)
		}
	}
}

// The elements of a list without items of their own are in the record of the list.
func TestRecordOfNumbers(t *testing.T) {
	var cases []cause.Case
	for i := range 40 {
		text := fmt.Sprintf(`{"version": [1, 22, 2, 1], "n": %d, "text": "%s"}`, i, strings.Repeat("as before ", 50))
		cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), text, strings.Replace(text, "22, 2,", "23,", 1)))
	}
	if found := analyseCases(cases...); len(found.Causes) != 1 {
		t.Errorf("%d causes, want 1: %+v", len(found.Causes), found.Causes)
	}
}

// Two changes that are in the same cases, but in other records, are two causes.
func TestRecordsOfTwoChanges(t *testing.T) {
	var cases []cause.Case
	for i := range 40 {
		record := func(a, b string) string {
			return fmt.Sprintf(`[{"name": "x%d", "text": "%s"}, {"name": "y%d", "note": "%s"}]`, i, a, i, b)
		}
		cases = append(cases, changedCase(fmt.Sprintf("case%02d", i), record("one", "two"), record("uno", "dos")))
	}
	found := analyseCases(cases...)
	if len(found.Causes) != 2 {
		t.Errorf("%d causes, want 2: %+v", len(found.Causes), found.Causes)
	}
}
