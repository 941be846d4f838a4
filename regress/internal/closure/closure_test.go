package closure_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/regress/internal/closure"
	"muster/regress/internal/filedigest"
	"muster/regress/lane/observe"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, file, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(text), 0o755))
}

// use is an access as a lane reports it.
func use(path string, kind observe.Kind) observe.Access {
	a := observe.Access{Path: path, Kind: kind}
	info, err := os.Stat(path)
	if err != nil {
		return a
	}
	a.Form = observe.Other
	switch {
	case info.Mode().IsRegular():
		a.Form = observe.File
	case info.IsDir():
		a.Form = observe.Folder
	}
	a.Real, _ = filepath.EvalSymlinks(path)
	return a
}

// of returns the closure of observed runs.
func of(t testing.TB, runs ...[]observe.Access) *closure.Closure {
	t.Helper()
	var g closure.Gatherer
	for _, accesses := range runs {
		g.Add(&observe.Observation{Accesses: accesses})
	}
	c, err := g.Closure(filedigest.Open(""))
	must(t, err)
	return c
}

func changes(t testing.TB, c *closure.Closure, dir string) string {
	t.Helper()
	list, err := c.Changes(filedigest.Open(""))
	must(t, err)
	var words []string
	for _, change := range list {
		words = append(words, fmt.Sprintf("%s: %s", strings.TrimPrefix(change.Path, dir+"/"), change.How))
	}
	slices.Sort(words)
	return strings.Join(words, "; ")
}

// Whatever changes on the machine, the closure names the changed paths that the runs used, and no
// other. The model knows the files and the uses.
func TestEveryChangeIsNamed(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		var files, absent, folders []string
		for i := range 6 {
			file := fmt.Sprintf("d%d/f%d", i%3, i)
			put(t, filepath.Join(dir, file), fmt.Sprint("content ", i))
			files = append(files, file)
			absent = append(absent, fmt.Sprintf("d%d/none%d", i%3, i))
		}
		must(t, os.Symlink("../d1/f1", filepath.Join(dir, "d0/link")))
		folders = []string{"d0", "d1", "d2"}
		used := map[string]bool{}
		var run []observe.Access
		for _, path := range slices.Concat(files, absent, folders, []string{"d0/link"}) {
			if r.IntN(2) == 0 {
				used[path] = true
				kind := observe.Opened
				if slices.Contains(folders, path) {
					kind = observe.Listed
				}
				run = append(run, use(filepath.Join(dir, path), kind))
			}
		}
		c := of(t, run)
		if got := changes(t, c, dir); got != "" {
			t.Fatalf("seed %d: nothing changed, and %s", seed, got)
		}
		var want []string
		expect := func(path string, how closure.Difference) {
			if used[path] {
				want = append(want, fmt.Sprintf("%s: %s", path, how))
			}
		}
		i := r.IntN(6)
		at := filepath.Join(dir, files[i])
		switch r.IntN(5) {
		case 0:
			put(t, at, "another content")
			expect(files[i], closure.ContentChanged)
			if i == 1 {
				expect("d0/link", closure.ContentChanged)
			}
		case 1:
			put(t, at, fmt.Sprint("content ", i)) // the same again
		case 2:
			must(t, os.Remove(at))
			expect(files[i], closure.Gone)
			expect(folders[i%3], closure.NamesChanged)
			if i == 1 {
				expect("d0/link", closure.Gone)
			}
		case 3:
			put(t, filepath.Join(dir, absent[i]), "new")
			expect(absent[i], closure.Appeared)
			expect(folders[i%3], closure.NamesChanged)
		case 4:
			must(t, os.Remove(filepath.Join(dir, "d0/link")))
			must(t, os.Symlink("../d2/f2", filepath.Join(dir, "d0/link")))
			expect("d0/link", closure.ContentChanged)
		}
		slices.Sort(want)
		if got := changes(t, c, dir); got != strings.Join(want, "; ") {
			t.Errorf("seed %d: %q, want %q", seed, got, strings.Join(want, "; "))
		}
	}
}

// The tool's own files are left out, and so are files that others change meanwhile.
func TestLeftOut(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"own", "log", "stable", "cache/x", "config"} {
		put(t, at(name), name)
	}
	g := closure.Gatherer{Leave: func(path string) bool { return path == at("config") }}
	run := func() {
		g.Add(&observe.Observation{Accesses: []observe.Access{
			use(at("own"), observe.Opened|observe.Written), use(at("log"), observe.Opened), use(at("stable"), observe.Opened),
			use(at("cache"), observe.Listed), use(at("cache/y"), observe.Written), use(at("config"), observe.Opened), use(at("made"), observe.Asked),
		}})
	}
	run()
	put(t, at("log"), "more")
	put(t, at("made"), "")
	run()
	c, err := g.Closure(filedigest.Open(""))
	must(t, err)
	if len(c.Files) != 1 || c.Files[0].Path != at("stable") || len(c.Absent)+len(c.Folders) != 0 || c.Runs != 2 {
		t.Errorf("%+v", c)
	}
	if want := []string{at("log"), at("made")}; !slices.Equal(c.Varying, want) {
		t.Errorf("varying %q, want %q", c.Varying, want)
	}
}

// The kernel opens interpreters itself, so they are found in the executed file.
func TestOpenedByKernel(t *testing.T) {
	dir := t.TempDir()
	script, interpreter := filepath.Join(dir, "script"), filepath.Join(dir, "interpreter")
	put(t, script, "#!"+interpreter+" -x\n")
	put(t, interpreter, "#!/bin/sh\n")
	for kind, want := range map[observe.Kind]bool{observe.Executed: true, observe.Opened: false} {
		c := of(t, []observe.Access{use(script, kind)})
		if got := slices.ContainsFunc(c.Files, func(f closure.File) bool { return f.Path == interpreter && f.IsExecuted }); got != want {
			t.Errorf("kind %d: %+v", kind, c.Files)
		}
	}
}

// Without complete observations there is no closure, and the reason is known.
func TestBlind(t *testing.T) {
	for want, o := range map[string]observe.Observation{
		"": {}, "no filter": {Blind: "no filter", Contact: "x"}, "the tool connects to a process outside: socket /s": {Contact: "socket /s"},
	} {
		var g closure.Gatherer
		g.Add(&o)
		g.Add(&observe.Observation{})
		if got := g.Blind(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// BenchmarkChanges is the time to check a closure of 1 GB in 1,000 files that did not change.
func BenchmarkChanges(b *testing.B) {
	dir := b.TempDir()
	var run []observe.Access
	for i := range 1000 {
		file := filepath.Join(dir, fmt.Sprint(i))
		put(b, file, "")
		must(b, os.Truncate(file, 1<<20))
		run = append(run, use(file, observe.Opened), use(file+".absent", observe.Asked))
	}
	c := of(b, run)
	digests := filedigest.Open("")
	for b.Loop() {
		if list, err := c.Changes(digests); err != nil || len(list) > 0 {
			b.Fatal(list, err)
		}
	}
}
