package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/bench/timing"
	"muster/lab/corpora"
)

// TestPrint: one muster has no name, and what cannot be divided is a dash.
func TestPrint(t *testing.T) {
	var out bytes.Buffer
	m := &measured{bench: &bench{out: &out}, spec: corpora.Spec{Name: "few", Cases: 100}, tool: tools[0]}
	m.musters, m.jobs = []program{{"muster", "muster"}}, 1
	m.subjects = []*subject{{measured: m, program: m.musters[0], summaries: []summary{{CPU: 1000, Own: 12}}}}
	sample := func(seconds time.Duration) []timing.Sample {
		return []timing.Sample{{Wall: seconds * time.Second, User: time.Second, Sys: time.Second / 2}}
	}
	rows := []row{{name: "**muster check**", samples: sample(2)}, {name: "ninja", samples: sample(3)}}
	m.print(rows)
	const table = `
## tcc, few: 100 cases, 1 at once

Limit: the tool's own 1.00 s of CPU ÷ 1 cores = 1.00 s.

| | wall s | least–most | ÷ limit | ÷ make | user s | sys s |
|---|---|---|---|---|---|---|
| **muster check** | 2.00 | 2.00–2.00 | 2.00 | – | 1.00 | 0.50 |
| ninja | 3.00 | 3.00–3.00 | 3.00 | – | 1.00 | 0.50 |

muster itself: 120 µs of CPU a case, lanes and all.
`
	if out.String() != table {
		t.Errorf("without make:\n%s", out.String())
	}
	out.Reset()
	m.print(append(rows, row{name: "make -j1", samples: sample(4)}))
	if want := "| **muster check** | 2.00 | 2.00–2.00 | 2.00 | 0.50 |"; !strings.Contains(out.String(), want) {
		t.Errorf("with make:\n%s", out.String())
	}
}

// TestSeveral: several musters have rows of their own, in both tables, and each reads
// only the golden that it recorded.
func TestSeveral(t *testing.T) {
	for table, want := range map[string][]string{
		tableRivals: {"Not here: make -j2.", "| **muster check (old)** |", "| **muster check (new)** |", "| muster record --repeat 2 (old) |",
			"muster itself (old): 1000 µs", "muster itself (new): 2000 µs", "Memory (new)", "| – |"},
		tableArticle: {"## tcc, few: muster check (old) by number of jobs", "## tcc, few: muster check (new) by number of jobs", "| 32 | "},
	} {
		t.Run(table, func(t *testing.T) {
			var out bytes.Buffer
			dir := t.TempDir()
			b := &bench{out: &out, dir: dir, goport: filepath.Join(dir, "absent")}
			b.musters = []program{fake(t, "old", 3), fake(t, "new", 6)}
			b.rounds, b.jobs, b.table = 2, 2, table
			t.Setenv("PATH", dir) // no rival is there
			if err := b.measure(t.Context(), corpora.Spec{Name: "few", Cases: 3, Bytes: 3000}, tools[0]); err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("no %q in\n%s", w, out.String())
				}
			}
			if strings.Contains(out.String(), "Inf") || strings.Contains(out.String(), "NaN") {
				t.Error(out.String())
			}
		})
	}
}

// TestGoals: a goal compares figures of one round, and what could not be measured is not met.
func TestGoals(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	b := &bench{out: &out, dir: dir, goport: filepath.Join(dir, "absent")}
	b.musters = []program{fake(t, "old", 3), fake(t, "new", 6)}
	b.rounds, b.jobs, b.table = 2, 2, tableGoals
	t.Setenv("PATH", dir) // no rival is there
	if err := b.measure(t.Context(), corpora.Spec{Name: "67MB", Cases: 20, Bytes: 3000}, tools[0]); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{
		"| own CPU for a case (old) | at most 240 µs | 150 µs | 150 µs–150 µs | met |",
		"| own CPU for a case (new) | at most 240 µs | 300 µs | 300 µs–300 µs | missed |",
	} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("no %q in\n%s", w, out.String())
		}
	}
	sample := func(seconds time.Duration) timing.Sample { return timing.Sample{Wall: seconds * time.Second} }
	s := &subject{}
	rows := []row{{kind: rowMake, samples: []timing.Sample{sample(2), sample(4), sample(8)}},
		{kind: rowCheck, of: &subject{}, samples: []timing.Sample{sample(9), sample(9), sample(9)}},
		{kind: rowCheck, of: s, samples: []timing.Sample{sample(1), sample(3), sample(4)}}}
	for _, c := range []struct {
		goal goal
		want string
	}{
		{goal{"", rowCheck, rowMake, 0.5}, "0.50 | 0.50–0.75 | met"},
		{goal{"", rowCheck, rowMake, 0.4}, "0.50 | 0.50–0.75 | missed"},
		{goal{"", rowCheck, rowXargs, 9}, "– | – | not measured"},
	} {
		_, form, figures := c.goal.of(s, rows)
		if got := c.goal.result(form, figures); got != c.want {
			t.Errorf("%v: %s, want %s", c.goal, got, c.want)
		}
	}
}

// TestHead: with several, each version stands behind its name.
func TestHead(t *testing.T) {
	var out bytes.Buffer
	b := &bench{out: &out}
	b.rounds = 2
	for _, p := range []program{fake(t, "old", 3), fake(t, "new", 6)} {
		b.musters = append(b.musters, p)
		out.Reset()
		b.head(t.Context())
		want := "; muster old; 2 rounds"
		if len(b.musters) == 2 {
			want = "; old: muster old; new: muster new; 2 rounds"
		}
		if !strings.Contains(out.String(), runtime.Version()+want) {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

// fake is a muster that runs nothing: check refuses a golden that another recorded, and
// says that it took so much.
func fake(t *testing.T, name string, ownMilliseconds int) program {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	script := fmt.Sprintf(`#!/bin/sh
command=$1
while [ $# -gt 0 ] && [ "$1" != --golden ]; do shift; done
case $command in
version) echo muster %[1]s ;;
record) echo %[1]s > "$2" ;;
check) read -r by < "$2" && [ "$by" = %[1]s ] && echo '{"cpu_ms":3,"own_cpu_ms":%[2]d,"cores_busy":1.5}' ;;
esac
`, name, ownMilliseconds)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program{name, path}
}
