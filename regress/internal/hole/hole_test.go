package hole

import (
	"fmt"
	"strings"
	"testing"
)

// around returns a text of ten lines that never vary, with other lines in the middle. Holes in less
// than half of it are no reason to mask it whole.
func around(lines ...string) []byte {
	return []byte("one\ntwo\nthree\nfour\nfive\n" + strings.Join(lines, "") + "six\nseven\neight\nnine\nten\n")
}

func patternOf(alternatives [][]string) *Pattern {
	texts := make([][]byte, len(alternatives))
	for i, lines := range alternatives {
		texts[i] = around(lines...)
	}
	return Find(texts...)
}

func TestFits(t *testing.T) {
	for name, c := range map[string]struct {
		runs    [][]string
		classes string
		fit     [][]string
		misfit  [][]string
		marked  string
	}{
		"equal runs": {
			runs: [][]string{{"a\n"}, {"a\n"}}, fit: [][]string{{"a\n"}},
			misfit: [][]string{{"b\n"}, {}, {"a\n", "a\n"}, {"a"}}, marked: "a\n",
		},
		"date and time": {
			runs:    [][]string{{"at 2026-11-25 03:28:50.123 x\n"}, {"at 2026-11-25 03:28:51.456 x\n"}},
			classes: "time", fit: [][]string{{"at 1999-01-02 00:00:00 x\n"}},
			misfit: [][]string{{"at 1999-01-02 00:00:00 y\n"}, {"at some day x\n"}, {"at 12 x\n"}, {"at  x\n"}}, marked: "at ⟨time⟩ x\n",
		},
		"C's date": {
			runs:    [][]string{{"built Nov 25 2026 03:28:50\n"}, {"built Nov 25 2026 03:28:51\n"}},
			classes: "time", fit: [][]string{{"built Dec  1 2027 23:59:59\n"}}, misfit: [][]string{{"built\n"}, {"made Dec  1 2027 23:59:59\n"}},
			marked: "built ⟨time⟩\n",
		},
		"address": {
			runs:    [][]string{{"object at 0x7f1200\n"}, {"object at 0x55aa\n"}},
			classes: "address", fit: [][]string{{"object at 0x1\n"}}, misfit: [][]string{{"object at 1\n"}, {"object at nil\n"}},
			marked: "object at ⟨address⟩\n",
		},
		"Go's log": {
			runs:    [][]string{{"2025/05/03 10:00:00 x\n"}, {"2025/05/03 10:00:01 x\n"}},
			classes: "time", fit: [][]string{{"2026/12/31 23:59:59 x\n"}}, misfit: [][]string{{"2026/12/31 23:59:59 y\n"}, {"2026/12 x\n"}}, marked: "⟨time⟩ x\n",
		},
		"a web server's log": {
			runs:    [][]string{{"[03/May/2025:10:00:00 +0200] 7\n"}, {"[03/May/2025:10:00:01 +0200] 7\n"}},
			classes: "time", fit: [][]string{{"[31/Dec/2026:23:59:59 +0100] 7\n"}}, misfit: [][]string{{"[31/Dec/2026:23:59:59 +0100] 8\n"}}, marked: "[⟨time⟩] 7\n",
		},
		"a date with slashes": {
			runs:    [][]string{{"5/3/2025, 10:00:00 AM: 1/2 of 8\n"}, {"5/3/2025, 10:00:01 AM: 1/2 of 8\n"}},
			classes: "time", fit: [][]string{{"12/31/2026, 1:07:00 PM: 1/2 of 8\n"}}, misfit: [][]string{{"5/3/2025, 10:00:02 AM: 2/2 of 8\n"}}, marked: "⟨time⟩: 1/2 of 8\n",
		},
		"temporary path": {
			runs:    [][]string{{"#line 1 \"/tmp/ccA1b2.c\"\n"}, {"#line 1 \"/tmp/cc9Z.c\"\n"}},
			classes: "temporary path", fit: [][]string{{"#line 1 \"/tmp/y.c\"\n"}}, misfit: [][]string{{"#line 2 \"/tmp/y.c\"\n"}, {"#line 1 \"/tmp/x/y.c\"\n"}, {"#line 1 \"/etc/passwd\"\n"}},
			marked: "#line 1 \"⟨temporary path⟩\"\n",
		},
		"number": {
			runs:    [][]string{{"pid 12: done, 3 errors\n"}, {"pid 4711: done, 3 errors\n"}},
			classes: "number", fit: [][]string{{"pid 1: done, 3 errors\n"}}, misfit: [][]string{{"pid 1: done, 4 errors\n"}, {"pid x: done, 3 errors\n"}},
			marked: "pid ⟨number⟩: done, 3 errors\n",
		},
		"duration": {
			runs:    [][]string{{"took 12ms\n"}, {"took 1.5s\n"}},
			classes: "duration", fit: [][]string{{"took 1m2s\n"}}, misfit: [][]string{{"took 12\n"}, {"took 12 apples\n"}}, marked: "took ⟨duration⟩\n",
		},
		"a duration with larger units": {
			runs:    [][]string{{"took 2m, 5 jobs\n"}, {"took 59s, 5 jobs\n"}},
			classes: "duration", fit: [][]string{{"took 1h 2m, 5 jobs\n"}, {"took 2d 1h 2m 3s, 5 jobs\n"}},
			misfit: [][]string{{"took 2m or so, 5 jobs\n"}, {"took 1h 2m, 6 jobs\n"}}, marked: "took ⟨duration⟩, 5 jobs\n",
		},
		"a clock of 12 hours": {
			runs:    [][]string{{"at 9:59 AM: 3 of 4\n"}, {"at 10:00 AM: 3 of 4\n"}},
			classes: "time", fit: [][]string{{"at 1:07 PM: 3 of 4\n"}},
			misfit: [][]string{{"at 1:07 PM: 2 of 4\n"}, {"at 1:07: 3 of 4\n"}}, marked: "at ⟨time⟩: 3 of 4\n",
		},
		"a date with a clock of 12 hours": {
			runs:    [][]string{{"Nov 25, 2026 11:59:59 AM x\n"}, {"Nov 25, 2026 12:00:00 PM x\n"}},
			classes: "time", fit: [][]string{{"Nov 26, 2026 1:00:00 AM x\n"}}, misfit: [][]string{{"Nov 26, 2026 1:00:00 AM y\n"}}, marked: "⟨time⟩ x\n",
		},
		"digest": {
			runs:    [][]string{{"id 0123456789abcdef\n"}, {"id 00112233445566778\n"}},
			classes: "hexadecimal digits", fit: [][]string{{"id 12345678\n"}}, misfit: [][]string{{"id 1234567\n"}, {"id none\n"}}, marked: "id ⟨hexadecimal digits⟩\n",
		},
		"lines in another order": {
			runs:    [][]string{{"a 1\n", "b 2\n", "c 3\n"}, {"c 3\n", "a 1\n", "b 2\n"}},
			classes: "another order", fit: [][]string{{"b 2\n", "c 3\n", "a 1\n"}},
			misfit: [][]string{{"b 2\n", "c 3\n"}, {"a 1\n", "b 2\n", "c 4\n"}, {"a 1\n", "a 1\n", "b 2\n"}}, marked: "a 1\nb 2\nc 3\n",
		},
		"words in another order": {
			runs:    [][]string{{"set {'a', 'b', 'c'} end\n"}, {"set {'c', 'a', 'b'} end\n"}},
			classes: "another order", fit: [][]string{{"set {'b', 'c', 'a'} end\n"}},
			misfit: [][]string{{"set {'b', 'c', 'd'} end\n"}, {"set {'b', 'c'} end\n"}, {"Set {'b', 'c', 'a'} end\n"}}, marked: "set {'a', 'b', 'c'} end\n",
		},
		"a JSON object in another order": {
			runs:    [][]string{{"{\n", "\"a\": 1,\n", "\"b\": 2,\n", "\"c\": 3\n", "}\n"}, {"{\n", "\"c\": 3,\n", "\"a\": 1,\n", "\"b\": 2\n", "}\n"}},
			classes: "another order", fit: [][]string{{"{\n", "\"b\": 2,\n", "\"c\": 3,\n", "\"a\": 1\n", "}\n"}},
			misfit: [][]string{{"{\n", "\"a\": 1,\n", "\"b\": 2,\n", "\"c\": 4\n", "}\n"}}, marked: "{\n\"a\": 1,\n\"b\": 2,\n\"c\": 3\n}\n",
		},
		"free text in a line": {
			runs:    [][]string{{"mood: fine today.\n"}, {"mood: bad.\n"}},
			classes: "free text", fit: [][]string{{"mood: as it was yesterday, or so.\n"}, {"mood: .\n"}},
			misfit: [][]string{{"Mood: bad.\n"}, {"mood: bad!\n"}, {"mood: bad.\n", "mood: bad.\n"}, {"mood:.\n"}}, marked: "mood: ⟨free text⟩.\n",
		},
		"lines that come and go": {
			runs:    [][]string{{"a\n", "b\n"}, {"a\n", "cache is cold\n", "b\n"}},
			classes: "free text", fit: [][]string{{"a\n", "x\n", "y\n", "b\n"}, {"a\n", "b\n"}},
			misfit: [][]string{{"a\n", "x\n", "y\n", "c\n"}, {"b\n", "a\n"}}, marked: "a\n⟨free text⟩\nb\n",
		},
		"a hole beside a line that comes and goes": {
			runs:    [][]string{{"cache is cold\n", "took 12 ms: ok\n"}, {"took 9 ms: ok\n"}},
			classes: "duration free text", fit: [][]string{{"took 1 s: ok\n"}, {"cache is warm\n", "took 1 s: ok\n"}},
			misfit: [][]string{{"took 1 s: bad\n"}, {"cache is cold\n", "took 1 s: bad\n"}, {"cache is cold\n"}, {"took 9 ms: ok\n", "cache is cold\n"}},
			marked: "⟨free text⟩\ntook ⟨duration⟩: ok\n",
		},
		"holes around a line that comes and goes": {
			runs:    [][]string{{"at 10:00:00 begin\n", "took 9 ms: ok\n"}, {"at 10:00:01 begin\n", "cache is cold\n", "took 12 ms: ok\n"}, {"at 10:00:02 begin\n", "took 8 ms: ok\n"}},
			classes: "time duration free text", fit: [][]string{{"at 10:00:07 begin\n", "cache is hot\n", "took 1 s: ok\n"}},
			misfit: [][]string{{"at 10:00:07 end\n", "took 1 s: ok\n"}, {"at 10:00:07 begin\n", "cache is cold\n", "took 1 s: not ok\n"}, {"took 1 s: ok\n"}},
			marked: "at ⟨time⟩ begin\n⟨free text⟩\ntook ⟨duration⟩: ok\n",
		},
		"a number of lines of one shape": {
			runs:    [][]string{{"waited 1 ms\n", "waited 2 ms\n", "done in 3 ms\n"}, {"waited 4 ms\n", "done in 5 ms\n"}},
			classes: "duration free text", fit: [][]string{{"done in 7 ms\n"}, {"waited 3 ms\n", "waited 1 ms\n", "waited 2 ms\n", "done in 3 ms\n"}},
			misfit: [][]string{{"waited 3 ms\n", "failed in 7 ms\n"}}, marked: "⟨free text⟩\ndone in ⟨duration⟩\n",
		},
		"a hole beside a line that never varies": {
			runs:    [][]string{{"took 1 s\n", "x = 1\n"}, {"took 2 s\n", "x = 1\n"}},
			classes: "duration", misfit: [][]string{{"took 1 s\n", "x = 2\n"}, {"took 3 s\n", "x = 2\n"}}, marked: "took ⟨duration⟩\nx = 1\n",
		},
		"a log of parallel jobs": {
			runs: [][]string{
				{"a: status 0, 12 ms\n", "b: status 0, 7 ms\n", "c: status 0, 3 ms\n"},
				{"c: status 0, 8 ms\n", "a: status 0, 13 ms\n", "b: status 0, 7 ms\n"},
			},
			classes: "another order", fit: [][]string{{"b: status 0, 7 ms\n", "c: status 0, 99 ms\n", "a: status 0, 1 ms\n"}},
			misfit: [][]string{
				{"b: status 0, 7 ms\n", "c: status 0, 99 ms\n", "a: status 1, 1 ms\n"}, {"b: status 0, 7 ms\n", "c: status 0, 99 ms\n", "d: status 0, 1 ms\n"},
				{"b: status 0, ⟨duration⟩\n", "c: status 0, 99 ms\n", "a: status 0, 1 ms\n"},
			},
			marked: "a: status 0, ⟨duration⟩\nb: status 0, 7 ms\nc: status 0, ⟨duration⟩\n",
		},
		"a log of parallel jobs with numbers": {
			runs: [][]string{
				{"job 1: 100 items, 12 ms\n", "job 2: 200 items, 7 ms\n", "job 3: 100 items, 3 ms\n"},
				{"job 3: 100 items, 8 ms\n", "job 1: 100 items, 13 ms\n", "job 2: 200 items, 9 ms\n"},
			},
			classes: "another order", fit: [][]string{{"job 2: 200 items, 1 ms\n", "job 3: 100 items, 99 ms\n", "job 1: 100 items, 1 ms\n"}},
			misfit: [][]string{
				{"job 1: 100 items, 12 ms\n", "job 2: 999 items, 7 ms\n", "job 3: 100 items, 3 ms\n"},
				{"job 1: 200 items, 12 ms\n", "job 2: 100 items, 7 ms\n", "job 3: 100 items, 3 ms\n"},
				{"job 1: 100 items, 12 ms\n", "job 1: 100 items, 7 ms\n", "job 2: 200 items, 3 ms\n"},
			},
			marked: "job 1: 100 items, ⟨duration⟩\njob 2: 200 items, ⟨duration⟩\njob 3: 100 items, ⟨duration⟩\n",
		},
		"two lines far apart": {
			runs:    [][]string{{"x y\n", "1\n", "2\n", "3\n", "z v\n"}, {"z v\n", "1\n", "2\n", "3\n", "x y\n"}},
			classes: "free text", misfit: [][]string{{"x y\n", "1\n", "3\n", "2\n", "z v\n"}}, marked: "⟨free text⟩ ⟨free text⟩\n1\n2\n3\n⟨free text⟩ ⟨free text⟩\n",
		},
		"lines with numbers that move past others": {
			runs:    [][]string{{"a 1\n", "x\n", "a 2\n"}, {"a 2\n", "x\n", "a 1\n"}},
			classes: "another order", fit: [][]string{{"x\n", "a 1\n", "a 2\n"}},
			misfit: [][]string{{"a 77\n", "x\n", "a 99\n"}, {"a 1\n", "x\n", "a 1\n"}, {"a 2\n", "y\n", "a 1\n"}}, marked: "a 1\nx\na 2\n",
		},
		"numbers that happen to move past others": {
			runs:    [][]string{{"took 1\n", "x\n", "took 2\n"}, {"took 2\n", "x\n", "took 1\n"}, {"took 2\n", "x\n", "took 3\n"}},
			classes: "number", fit: [][]string{{"took 7\n", "x\n", "took 8\n"}}, misfit: [][]string{{"took 7\n", "y\n", "took 8\n"}}, marked: "took ⟨number⟩\nx\ntook ⟨number⟩\n",
		},
		"a word like a month": {
			runs:    [][]string{{"Decoded 12 frames\n"}, {"Decoded 13 frames\n"}},
			classes: "number", fit: [][]string{{"Decoded 9 frames\n"}}, misfit: [][]string{{"Declined 9 frames\n"}}, marked: "Decoded ⟨number⟩ frames\n",
		},
		"a time and a number in a table": {
			runs:    [][]string{{"12:00:01,0,ok\n"}, {"12:00:02,0,ok\n"}},
			classes: "time", fit: [][]string{{"12:00:03,0,ok\n"}}, misfit: [][]string{{"12:00:03,1,ok\n"}}, marked: "⟨time⟩,0,ok\n",
		},
		"a time and a number": {
			runs:    [][]string{{"Nov 25 04:12:57 1234 -1234 requests\n"}, {"Nov 25 04:12:58 1234 -1234 requests\n"}},
			classes: "time", misfit: [][]string{{"Nov 25 04:12:59 9999 -1234 requests\n"}, {"Nov 25 04:12:59 1234 -9999 requests\n"}}, marked: "⟨time⟩ 1234 -1234 requests\n",
		},
		"the end of a temporary path": {
			runs:    [][]string{{"/tmp/cc1/main.o=ok\n"}, {"/tmp/cc2/main.o=ok\n"}},
			classes: "temporary path", fit: [][]string{{"/tmp/cc3/main.o=ok\n"}}, misfit: [][]string{{"/tmp/cc3/other.o=ok\n"}, {"/tmp/cc3/main.o=fail\n"}}, marked: "⟨temporary path⟩/main.o=ok\n",
		},
		"padding": {
			runs:    [][]string{{"took   9.1 s\n"}, {"took   9.3 s\n"}},
			classes: "duration", fit: [][]string{{"took  10.1 s\n"}, {"took 999.1 ms\n"}}, misfit: [][]string{{"took  ten s\n"}}, marked: "took ⟨duration⟩\n",
		},
		"a small number": {
			runs:    [][]string{{"error 0.0012\n"}, {"error 0.0013\n"}},
			classes: "number", fit: [][]string{{"error 9.5e-05\n"}}, misfit: [][]string{{"error e-05\n"}}, marked: "error ⟨number⟩\n",
		},
		"numbers that happen to move": {
			runs:    [][]string{{"took 1\n", "took 2\n", "took 3\n"}, {"took 2\n", "took 3\n", "took 4\n"}},
			classes: "number", fit: [][]string{{"took 7\n", "took 8\n", "took 9\n"}}, misfit: [][]string{{"took 7\n", "took 8\n"}}, marked: "took ⟨number⟩\ntook ⟨number⟩\ntook ⟨number⟩\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := patternOf(c.runs)
			if got := fmt.Sprint(p.Classes()); got != "["+c.classes+"]" {
				t.Errorf("the classes are %s", got)
			}
			if got, want := string(p.Marked()), string(around(c.marked)); got != want {
				t.Errorf("marked:\n%s", got)
			}
			for _, fit := range append(c.runs, c.fit...) {
				if !p.Fits(around(fit...)) {
					t.Errorf("%q does not fit", fit)
				}
				if got := string(p.Fill(around(fit...))); !strings.Contains(c.classes, "order") && got != string(p.Marked()) {
					t.Errorf("%q is filled to\n%s", fit, got)
				}
			}
			for _, misfit := range c.misfit {
				now := around(misfit...)
				if p.Fits(now) {
					t.Errorf("%q fits", misfit)
				}
				if got := string(p.Fill(now)); got == string(p.Marked()) {
					t.Errorf("%q: no difference is left", misfit)
				}
				if fixed := append([]byte("zero\n"), around(c.runs[0]...)...); p.Fits(fixed) {
					t.Error("a further line fits")
				}
			}
		})
	}
}

func TestWhole(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		want  Count
	}{
		"binary":                 {[]string{"a\x00b", "a\x00c"}, Count{IsWhole: true}},
		"binary, seen once":      {[]string{"a\x00b"}, Count{IsWhole: true}},
		"binary, seen twice":     {[]string{"a\x00b", "a\x00b"}, Count{All: 1}},
		"one line":               {[]string{"1\n", "2\n"}, Count{All: 1, IsWhole: true}},
		"more than half":         {[]string{"1\na\n2\n", "3\na\n4\n"}, Count{All: 3, IsWhole: true}},
		"half":                   {[]string{"1\na\n2\nb\n", "3\na\n4\nb\n"}, Count{All: 4, Holes: 2}},
		"another order only":     {[]string{"a\nb\nc\n", "c\nb\na\n"}, Count{All: 3, Holes: 3}},
		"another order of words": {[]string{"a b c\n", "c b a\n"}, Count{All: 1, Holes: 1}},
		"free text":              {[]string{"a\nb x\nc\n", "a\nb\nc\n"}, Count{All: 3, Holes: 1, Free: 1}},
		"one text":               {[]string{"a\nb\n", "a\nb\n"}, Count{All: 2}},
		"nothing":                {[]string{""}, Count{}},
	} {
		texts := [][]byte{}
		for _, text := range c.texts {
			texts = append(texts, []byte(text))
		}
		p := Find(texts...)
		if p.Count() != c.want {
			t.Errorf("%s: %+v", name, p.Count())
		}
		if p.Fits([]byte("quite another text\n")) != c.want.IsWhole {
			t.Errorf("%s: the wrong texts fit", name)
		}
	}
}
