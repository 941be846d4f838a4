package golden

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// The fixtures, one of each format that is read.
const (
	fixtureV2 = "testdata/golden-v2.golden"
	fixture   = "testdata/golden-v3.golden"
)

// fixtureStateV2 is the state of the fixture of format 2.
func fixtureStateV2() whole {
	b := bag{}
	state := whole{
		Meta: Meta{
			Command:    []Command{{Args: []string{"cc", "-c", "{in}", "%d\xff"}}, {Glob: "*.f", Args: []string{"f77"}}},
			Executable: "/usr/bin/cc", ExecutableDigest: outcome.Of([]byte("cc")), Env: []string{"A=b\x01"},
			Corpus: outcome.Of([]byte("corpus")), CorpusPath: "../corpus\xff.tar", Machine: "2 × some CPU", MusterVersion: "0.1",
			Created: time.Date(2025, 1, 31, 14, 25, 1, 7, time.UTC), Repeat: 2,
			Flags:       map[string]string{"normalize": `*.s:s/\.ident.*//`, "stdin": "true"},
			AcceptedRun: "20250131-142501-3f9a", AcceptBase: outcome.Of([]byte("base")), TimesVary: true,
		},
		Records: map[string]Record{}, Contents: b,
	}
	add := func(name string, ending regress.Ending, parts ...outcome.Part) *Record {
		r := Record{Name: name, Runs: 2, Cost: outcome.Cost{CPU: 3 * time.Millisecond, Wall: time.Second, PeakRSS: 4567}}
		r.Outcome.Ending = ending
		r.Outcome.Parts = append([]outcome.Part{
			b.part(outcome.Stdout, "", outcome.Regular, []byte("out of "+name)),
			b.part(outcome.Stderr, "", outcome.Regular, nil),
		}, parts...)
		r.Outcome.Sort()
		state.Records[name] = r
		return &r
	}
	exec := b.part(outcome.File, "a.out", outcome.Regular, incompressible(1, 300))
	exec.Exec = true
	add("dir/plain.c", regress.Ending{}, exec)
	add("failing", regress.Ending{Kind: regress.Exited, Code: 137})
	add("killed", regress.Ending{Kind: regress.Signalled, Code: int(syscall.SIGKILL)})
	add("late", regress.Ending{Kind: regress.TimedOut})
	add("fat", regress.Ending{Kind: regress.OutOfMemory})
	add("loud", regress.Ending{Kind: regress.OutputLimit})
	add("links", regress.Ending{},
		b.part(outcome.File, "link", outcome.Symlink, []byte("../target\xff")),
		outcome.Part{Key: outcome.Key{Place: outcome.File, Path: "links"}, Form: outcome.Gone})
	add("names \n\xff%41.c", regress.Ending{},
		b.part(outcome.File, "a\nb\xfe/"+strings.Repeat("long", 60), outcome.Regular, []byte("x")))
	add("sizes", regress.Ending{},
		b.part(outcome.File, "big", outcome.Regular, []byte(strings.Repeat("all work and no play\n", 40_000))),
		b.part(outcome.File, "empty", outcome.Regular, nil))
	first := b.part(outcome.File, "flaky", outcome.Regular, []byte("first"))
	second := outcome.Part{Key: outcome.Key{Place: outcome.File, Path: "second run only"}}
	add("flaky", regress.Ending{}, flaky(first, outcome.Filled, outcome.FilledExec, outcome.Link), flaky(second, outcome.AllShapes.List()...))
	r := add("flaky ending", regress.Ending{Code: 1})
	r.Outcome.Others = []regress.Ending{{Code: 2}}
	state.Records[r.Name] = *r
	state.Meta.Selection = Selection{Globs: []string{"*.c\xff"}, Filters: []string{"!x"}, Partition: "hash:1/2", Sample: 9}
	state.Meta.Accepts = []Accept{{
		Run: "20250201-142501-3f9a", Author: "A. Author <a@example.org>", At: time.Date(2025, 2, 1, 14, 25, 1, 7, time.UTC),
		Reason: "G1 is what we wanted\xff", Command: []Command{{Args: []string{"cc2", "{in}"}}}, Machine: "another", MusterVersion: "0.2",
	}}
	state.Shared = map[string]outcome.Digest{"HDR_a.h": outcome.Of([]byte("a")), "odd\n\xff": outcome.Of(nil)}
	varying := state.Records["flaky"]
	varying.Outcome.Others = []regress.Ending{{Kind: regress.Signalled, Code: 11}, {Kind: regress.TimedOut}}
	varying.Outcome.ByStatus, varying.Equal, varying.Origin, varying.Source = true, 1, 1, outcome.Of([]byte("source of flaky"))
	for i := range varying.Outcome.Parts {
		p := &varying.Outcome.Parts[i]
		switch p.Path {
		case "flaky":
			lost, exec, link := b.variant([]byte("not kept")), b.variant([]byte("executable")), b.variant([]byte("to"))
			lost.Digest, exec.Exec, link.Form = outcome.Digest{}, true, outcome.Symlink
			p.Variants = []outcome.Variant{lost, exec, link, b.variant([]byte("second"))}
		case "second run only":
			p.Seen, p.Variants = outcome.ShapesOf(outcome.Absent, outcome.Empty), []outcome.Variant{b.variant(nil)}
		}
	}
	state.Records["flaky"] = varying
	state.Contents = used(state.Records, b)
	return state
}

// fixtureState is the state of the fixture of format 3.
func fixtureState() whole {
	state := fixtureStateV2()
	state.Meta.TimesVary, state.Meta.Limits = false, "nofile=1024:4096 core=0"
	return state
}

// Every later version reads and changes the files of earlier releases.
func TestFixture(t *testing.T) {
	t.Run("format 2", func(t *testing.T) { testFixture(t, fixtureV2, fixtureStateV2()) })
	t.Run("format 3", func(t *testing.T) { testFixture(t, fixture, fixtureState()) })
}

func testFixture(t *testing.T, file string, want whole) {
	path := filepath.Join(t.TempDir(), "g")
	copyFile(t, file, path)
	same(t, mustRead(t, path), want)

	b := bag{}
	r := b.simple("one more", "1", nil)
	if err := Update(path, func(tx *Tx) error { return tx.Put(r, b.open) }); err != nil {
		t.Fatal(err)
	}
	want.Records[r.Name] = r
	want.Contents = used(want.Records, merged(want.Contents, b))
	same(t, mustRead(t, path), want)
	if _, _, err := Compact(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	same(t, mustRead(t, path), want)
}

func merged(a, b bag) bag {
	for d, content := range b {
		a[d] = content
	}
	return a
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o644); err != nil {
		t.Fatal(err)
	}
}
