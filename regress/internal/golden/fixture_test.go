package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/regress/internal/outcome"
)

var updateFixture = flag.Bool("update", false, "write testdata/golden-v1.golden anew: only while format 1 is not released")

const fixture = "testdata/golden-v1.golden"

// fixtureState is what the fixture of format 1 holds: a bit of everything.
func fixtureState() whole {
	b := bag{}
	state := whole{
		Meta: Meta{
			Command:    []Command{{Args: []string{"cc", "-c", "{in}", "%d\xff"}}, {Glob: "*.f", Args: []string{"f77"}}},
			Executable: "/usr/bin/cc", ExecutableDigest: outcome.Of([]byte("cc")), Env: []string{"A=b\x01"},
			Corpus: outcome.Of([]byte("corpus")), CorpusPath: "../corpus\xff.tar", Machine: "2 × some CPU", MusterVersion: "0.1",
			Created: time.Date(2025, 1, 31, 14, 25, 1, 7, time.UTC), Repeat: 2,
			Flags:       map[string]string{"normalize": `*.s:s/\.ident.*//`, "stdin": "true"},
			AcceptedRun: "20250131-142501-3f9a", AcceptBase: outcome.Of([]byte("base")),
		},
		Records: map[string]Record{}, Contents: b,
	}
	add := func(name string, ending outcome.Ending, parts ...outcome.Part) *Record {
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
	add("dir/plain.c", outcome.Ending{}, exec)
	add("failing", outcome.Ending{Kind: outcome.Exited, Code: 137})
	add("killed", outcome.Ending{Kind: outcome.Signalled, Code: int(syscall.SIGKILL)})
	add("late", outcome.Ending{Kind: outcome.TimedOut})
	add("fat", outcome.Ending{Kind: outcome.OutOfMemory})
	add("loud", outcome.Ending{Kind: outcome.OutputLimit})
	add("links", outcome.Ending{},
		b.part(outcome.File, "link", outcome.Symlink, []byte("../target\xff")),
		outcome.Part{Key: outcome.Key{Place: outcome.File, Path: "links"}, Form: outcome.Gone})
	add("names \n\xff%41.c", outcome.Ending{},
		b.part(outcome.File, "a\nb\xfe/"+strings.Repeat("long", 60), outcome.Regular, []byte("x")))
	add("sizes", outcome.Ending{},
		b.part(outcome.File, "big", outcome.Regular, []byte(strings.Repeat("all work and no play\n", 40_000))),
		b.part(outcome.File, "empty", outcome.Regular, nil))
	flaky := b.part(outcome.File, "flaky", outcome.Regular, []byte("first"))
	flaky.Flaky = true
	add("flaky", outcome.Ending{}, flaky,
		outcome.Part{Key: outcome.Key{Place: outcome.File, Path: "second run only"}, Flaky: true})
	r := add("flaky ending", outcome.Ending{Code: 1})
	r.Outcome.EndingFlaky = true
	state.Records[r.Name] = *r
	return state
}

// Every later version reads what version 1 has written, and can change it.
func TestFixture(t *testing.T) {
	want := fixtureState()
	path := filepath.Join(t.TempDir(), "g")
	if *updateFixture {
		build(t, path, want)
		copyFile(t, path, fixture)
	}
	copyFile(t, fixture, path)
	same(t, mustRead(t, path), want)

	b := bag{}
	r := b.simple("one more", "1", nil)
	if err := Update(path, func(tx *Tx) error { return tx.Put(r, b.open) }); err != nil {
		t.Fatal(err)
	}
	want.Records[r.Name] = r
	want.Contents = used(want.Records, merged(want.Contents, b))
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
