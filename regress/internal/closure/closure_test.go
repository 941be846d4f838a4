package closure_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

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

func use(path string, kind observe.Kind) observe.Access {
	return observe.Access{Path: path, Kind: kind}
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

// looked returns the places of a closure but for those that the tool only writes to.
func looked(c *closure.Closure) []closure.Place {
	return slices.DeleteFunc(slices.Clone(c.Places), func(p closure.Place) bool { return p.IsWritten })
}

// changes returns what differs from a closure now.
func changes(c *closure.Closure, dir string) string {
	var words []string
	now := closure.Restore(context.Background(), c.Files, c.Places, nil, filedigest.Open(""))
	for _, f := range c.Files {
		if now.Digest(f.Path) != f.Digest {
			words = append(words, strings.TrimPrefix(f.Path, dir+"/"))
		}
	}
	for i, p := range c.Places {
		if now.Places[i] != p {
			words = append(words, strings.TrimPrefix(p.Path, dir+"/"))
		}
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
		if got := changes(c, dir); got != "" {
			t.Fatalf("seed %d: nothing changed, and %s", seed, got)
		}
		var want []string
		expect := func(path string) {
			if used[path] {
				want = append(want, path)
			}
		}
		i := r.IntN(6)
		at := filepath.Join(dir, files[i])
		switch r.IntN(5) {
		case 0:
			put(t, at, "another content")
			expect(files[i])
			if i == 1 {
				expect("d0/link")
			}
		case 1:
			put(t, at, fmt.Sprint("content ", i)) // the same again
		case 2:
			must(t, os.Remove(at))
			expect(files[i])
			expect(folders[i%3])
			if i == 1 {
				expect("d0/link")
			}
		case 3:
			put(t, filepath.Join(dir, absent[i]), "new")
			expect(absent[i])
			expect(folders[i%3])
		case 4:
			must(t, os.Remove(filepath.Join(dir, "d0/link")))
			must(t, os.Symlink("../d2/f2", filepath.Join(dir, "d0/link")))
			expect("d0/link")
		}
		slices.Sort(want)
		got := changes(c, dir)
		if got != strings.Join(want, "; ") {
			t.Errorf("seed %d: %q, want %q", seed, got, strings.Join(want, "; "))
		}
		named, _ := closure.Restore(t.Context(), c.Files, c.Places, nil, filedigest.Open("")).ChangedSince(c.Known(), filedigest.Open(""))
		for i, path := range named {
			named[i] = strings.TrimSuffix(strings.TrimPrefix(path, dir+"/"), "/")
		}
		slices.Sort(named)
		if !slices.Equal(named, want) {
			t.Errorf("seed %d: a later check names %q, not %q", seed, named, want)
		}
		_, relisted, err := c.Watch(nil, nil).End()
		if found := err != nil || len(relisted) > 0; found != (got != "") {
			t.Errorf("seed %d: the watch says %v, %q, and %q changed", seed, err, relisted, got)
		}
	}
}

// The tool's own files are left out, and so are files that others change meanwhile.
func TestLeftOut(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"own", "log", "stable", "cache/x", "config", "program"} {
		put(t, at(name), name)
	}
	put(t, at("state/run"), "")
	g := closure.Gatherer{Leave: func(path string) bool { return path == at("config") }, Own: closure.Own{at("state"): true}}
	run := func() {
		g.Add(&observe.Observation{Accesses: []observe.Access{
			use(at("own"), observe.Opened|observe.Written), use(at("log"), observe.Opened), use(at("stable"), observe.Opened),
			use(at("cache"), observe.Listed), use(at("cache/y"), observe.Written), use(at("config"), observe.Opened), use(at("made"), observe.Asked),
			use(at("cache/none"), observe.Asked), use(at("program"), observe.Opened), use(at("program"), observe.Executed), use(dir, observe.Asked), use(at("state/run"), observe.Asked),
		}})
	}
	run()
	put(t, at("log"), "more")
	put(t, at("own"), "more")
	put(t, at("made"), "")
	put(t, at("cache/y"), "")
	run()
	c, err := g.Closure(filedigest.Open(""))
	must(t, err)
	if len(c.Files) != 2 || c.Files[0].Path != at("program") || c.Files[0].Role != closure.Program || c.Files[1].Path != at("stable") {
		t.Errorf("files %+v", c.Files)
	}
	if want := []closure.Place{{Path: dir, State: "folder"}, {Path: at("cache/none"), State: "absent"}}; !slices.Equal(c.Places, want) {
		t.Errorf("places %+v", c.Places)
	}
	if want := []string{at("cache"), at("cache/y"), at("log"), at("made"), at("own")}; !slices.Equal(c.Varying, want) {
		t.Errorf("varying %q, want %q", c.Varying, want)
	}
	put(t, at("program"), "another")
	run()
	if _, err := g.Closure(filedigest.Open("")); err == nil || !strings.Contains(err.Error(), "/program, a file of the tool, changed while cases ran") {
		t.Errorf("%v", err)
	}
}

// A file that was written to since the first case began may be of another case.
func TestFresh(t *testing.T) {
	dir := t.TempDir()
	file, program := filepath.Join(dir, "d/file"), filepath.Join(dir, "program")
	put(t, file, "")
	put(t, program, "")
	for began, want := range map[time.Time]string{time.Now().Add(-time.Hour): "program", time.Now().Add(time.Hour): "d d/file program", {}: "d d/file program"} {
		g := closure.Gatherer{Began: began, Others: true}
		g.Add(&observe.Observation{Accesses: []observe.Access{use(file, observe.Opened), use(program, observe.Executed), use(filepath.Dir(file), observe.Listed)}})
		c, err := g.Closure(filedigest.Open(""))
		must(t, err)
		var got []string
		for _, f := range c.Files {
			got = append(got, strings.TrimPrefix(f.Path, dir+"/"))
		}
		for _, p := range c.Places {
			got = append(got, strings.TrimPrefix(p.Path, dir+"/"))
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("began %v: %q, want %q", began, text, want)
		}
	}
}

// Without other cases, a new file is the tool's own only if the tool wrote it: by another path, or in a folder
// that it renamed. Else somebody changed it, and it counts.
func TestFreshOfOthers(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"library", "real/cache", "new/made", "asked"} {
		put(t, at(name), "")
	}
	must(t, os.Symlink("real", at("link")))
	must(t, os.Rename(at("new"), at("renamed")))
	must(t, os.Truncate(at("asked"), 65<<20))
	g := closure.Gatherer{Began: time.Now().Add(-time.Minute)}
	g.Add(&observe.Observation{Accesses: []observe.Access{
		use(at("library"), observe.Opened), use(at("link/cache"), observe.Opened), use(at("real/cache"), observe.Written),
		use(at("new"), observe.Opened|observe.Written), use(at("renamed"), observe.Written), use(at("renamed/made"), observe.Opened),
		use(at("asked"), observe.Asked),
	}})
	c, err := g.Closure(filedigest.Open(""))
	must(t, err)
	if len(c.Files) != 1 || c.Files[0].Path != at("library") || !slices.Equal(c.Varying, []string{at("link/cache"), at("renamed/made")}) {
		t.Errorf("files %+v, varying %q", c.Files, c.Varying)
	}
	if places := looked(c); len(places) != 1 || places[0].Path != at("asked") { // too large to read, as the tool only asks for it
		t.Errorf("places %+v", c.Places)
	}
}

// What cannot be looked at counts too, as it is.
func TestStates(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("file"), "")
	must(t, os.Symlink("loop", at("loop")))
	must(t, os.Symlink("none", at("dangling")))
	must(t, syscall.Mkfifo(at("pipe"), 0o600))
	for path, want := range map[string]string{
		"loop": "error: too many levels of symbolic links", strings.Repeat("x", 300): "error: file name too long",
		"dangling": "absent, a link to none", "file/below": "absent", "pipe": "p---------", ".": "folder",
	} {
		c := of(t, []observe.Access{use(at(path), observe.Asked)})
		if len(c.Files) != 0 || len(c.Places) != 1 || c.Places[0].State != want {
			t.Errorf("%s: %+v, want %s", path, c, want)
		}
		must(t, c.Changed())
	}
	c := of(t, []observe.Access{use(at("nothing"), observe.Asked)})
	put(t, at("nothing"), "")
	if err := c.Changed(); err == nil || !strings.Contains(err.Error(), "the tool looks for it, and it appeared") {
		t.Error(err)
	}
}

// The kernel opens interpreters itself, so they are found in the executed file.
func TestOpenedByKernel(t *testing.T) {
	dir := t.TempDir()
	script, interpreter := filepath.Join(dir, "script"), filepath.Join(dir, "interpreter")
	put(t, script, "#!"+interpreter+" -x\n")
	put(t, interpreter, "#!/bin/sh\n")
	for kind, want := range map[observe.Kind]bool{observe.Executed: true, observe.Opened: false} {
		c := of(t, closure.WithOpenedByKernel(&observe.Observation{Accesses: []observe.Access{use(script, kind)}}).Accesses)
		if got := slices.ContainsFunc(c.Files, func(f closure.File) bool { return f.Path == interpreter && f.Role == closure.Program }); got != want {
			t.Errorf("kind %d: %+v", kind, c.Files)
		}
	}
}

// A link counts by where it leads, also if that is the same.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "current")
	must(t, os.MkdirAll(filepath.Join(dir, "v1"), 0o755))
	must(t, os.Symlink("v1", link))
	c := of(t, []observe.Access{use(link, observe.Asked)})
	must(t, c.Changed())
	must(t, os.Remove(link))
	must(t, os.Symlink("./v1", link))
	if err := c.Changed(); err == nil || !strings.Contains(err.Error(), "/current, a file of the tool, changed while cases ran (it is another file, folder or link)") {
		t.Error(err)
	}
}

// A file that the tool opens for writing too, or whose mode it sets, belongs to it as long as its
// content stays.
func TestWrittenButTheSame(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"database", "marked", "program", "made"} {
		put(t, at(name), name)
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"marked", "program"} {
		must(t, os.Chtimes(at(name), old, old))
	}
	run := []observe.Access{
		use(at("database"), observe.Opened|observe.Written), use(at("marked"), observe.Opened), use(at("program"), observe.Executed),
		use(at("made"), observe.Executed|observe.Written), use(at("temporary"), observe.Opened|observe.Written), use(at("log"), observe.Written),
	}
	for mode, began := range []time.Time{time.Now().Add(-time.Minute), time.Now().Add(time.Hour)} {
		g := closure.Gatherer{Began: began}
		g.Add(&observe.Observation{Accesses: run})
		must(t, os.Chmod(at("program"), 0o700+fs.FileMode(mode)))
		must(t, os.Chmod(at("marked"), 0o700+fs.FileMode(mode)))
		g.Add(&observe.Observation{Accesses: run})
		c, err := g.Closure(filedigest.Open(""))
		must(t, err)
		var got []string
		for _, f := range c.Files {
			got = append(got, filepath.Base(f.Path))
		}
		want, varying := []string{"marked", "program"}, []string{at("database"), at("made")}
		if mode == 1 {
			want, varying = []string{"database", "made", "marked", "program"}, nil
		}
		if !slices.Equal(got, want) || !slices.Equal(c.Varying, varying) {
			t.Errorf("files %q, want %q; varying %q, want %q", got, want, c.Varying, varying)
		}
	}
}

// What the tool only writes to counts by what is there, and not by a content. Where nothing is left, the folder
// counts too. None of them is watched, but for the path that the tool looks for in vain.
func TestOnlyWritten(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("log"), "")
	must(t, os.Mkdir(at("lock"), 0o755))
	g := closure.Gatherer{Began: time.Now().Add(-time.Minute)}
	run := []observe.Access{
		use(at("log"), observe.Written), use(at("gone"), observe.Written), use(at("override"), observe.Asked), use(at("gone"), observe.Asked),
		use(at("lock"), observe.Written), use(at("none/x"), observe.Opened|observe.Written), use(at("ran"), observe.Executed|observe.Written),
	}
	g.Add(&observe.Observation{Accesses: run})
	put(t, at("log"), "more")
	g.Add(&observe.Observation{Accesses: run})
	c, err := g.Closure(filedigest.Open(""))
	must(t, err)
	want := []closure.Place{
		{Path: dir, State: "folder", IsWritten: true}, {Path: at("gone"), State: "absent", IsWritten: true}, {Path: at("lock"), State: "folder", IsWritten: true},
		{Path: at("log"), State: "file", IsWritten: true}, {Path: at("none"), State: "absent", IsWritten: true}, {Path: at("none/x"), State: "absent", IsWritten: true},
		{Path: at("override"), State: "absent"},
	}
	if !slices.Equal(c.Places, want) || !slices.Equal(c.Varying, []string{at("ran")}) {
		t.Errorf("%+v", c)
	}
	for _, name := range []string{"gone", "none/x"} {
		put(t, at(name), "")
	}
	must(t, os.Remove(at("lock")))
	if got := changes(c, dir); got != "gone; lock; none; none/x" {
		t.Error(got)
	}
	must(t, c.Changed())
	put(t, at("override"), "")
	if c.Changed() == nil {
		t.Error("the path that the tool looks for is not watched")
	}

	// As soon as a run reads there, the content counts.
	read := of(t, []observe.Access{use(at("log"), observe.Opened), use(at("lock"), observe.Asked)})
	for i, sum := range []*closure.Closure{c.With(read), read.With(c)} {
		isWritten := func(name string) bool {
			return slices.ContainsFunc(sum.Places, func(p closure.Place) bool { return p.Path == at(name) && p.IsWritten })
		}
		if isWritten("log") || isWritten("lock") || !isWritten("gone") {
			t.Errorf("sum %d: %+v", i, sum.Places)
		}
	}
}

// A folder that the tool lists, and in which its first run makes one thing, belongs to it. One in which
// each case makes another thing does not. A time in the future does not make a folder new.
func TestListedAndWritten(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	g := closure.Gatherer{Began: time.Now().Add(-time.Minute)}
	var run []observe.Access
	for _, folder := range []string{"scripts", "cache", "future"} {
		must(t, os.Mkdir(at(folder), 0o755))
		run = append(run, use(at(folder), observe.Listed))
	}
	for _, made := range []string{"scripts/cache", "cache/a", "cache/b"} {
		put(t, at(made), "")
		run = append(run, use(at(made), observe.Written))
	}
	next := time.Now().Add(time.Hour)
	must(t, os.Chtimes(at("future"), next, next))
	g.Add(&observe.Observation{Accesses: run})
	c, err := g.Closure(filedigest.Open(""))
	must(t, err)
	if places := looked(c); len(places) != 2 || places[1].Path != at("scripts") || !slices.Equal(c.Varying, []string{at("cache")}) {
		t.Errorf("%+v", c)
	}
	g.Others = true
	c, err = g.Closure(filedigest.Open(""))
	must(t, err)
	if want := []string{at("cache"), at("future"), at("scripts")}; len(looked(c)) != 0 || !slices.Equal(c.Varying, want) {
		t.Errorf("%+v", c)
	}
	g.Began = time.Now().Add(time.Minute)
	c, err = g.Closure(filedigest.Open(""))
	must(t, err)
	if len(looked(c)) != 3 || len(c.Varying) != 0 {
		t.Errorf("%+v", c)
	}
}

// What became of a path since a record is said, whatever is there now.
func TestOtherThings(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"folder", "parent/file", "pipe", "empty"} {
		must(t, os.MkdirAll(filepath.Dir(at(name)), 0o755))
		put(t, at(name), map[bool]string{true: "", false: name}[name == "empty"])
	}
	must(t, os.Mkdir(at("asked"), 0o755))
	must(t, os.Symlink("v\xff", at("link")))
	run := []observe.Access{
		use(at("folder"), observe.Opened), use(at("parent/file"), observe.Opened), use(at("pipe"), observe.Opened), use(at("empty"), observe.Opened),
		use(at("asked"), observe.Asked), use(at("link"), observe.Asked),
	}
	before := of(t, run)
	for _, p := range before.Places {
		if !utf8.ValidString(p.State) {
			t.Errorf("the state of %s is %q", p.Path, p.State)
		}
	}
	for _, name := range []string{"folder", "parent", "pipe", "empty", "asked"} {
		must(t, os.RemoveAll(at(name)))
	}
	must(t, os.Mkdir(at("folder"), 0o755))
	must(t, syscall.Mkfifo(at("pipe"), 0o600))
	put(t, at("parent"), "")
	now := of(t, append(run, use(at("parent"), observe.Opened))) // an empty file is there, but not that one
	paths, same := now.ChangedSince(before.Known(), filedigest.Open(""))
	if want := []string{at("folder"), at("pipe"), at("asked") + "/", at("empty"), at("parent/file")}; !slices.Equal(paths, want) || same != 0 {
		t.Errorf("%q, want %q; %d same", paths, want, same)
	}
}

// Without complete observations there is no closure, and the reason is known.
func TestBlind(t *testing.T) {
	dir := t.TempDir()
	server, sudo := filepath.Join(dir, "server"), filepath.Join(dir, "sudo")
	l, err := net.Listen("unix", server)
	must(t, err)
	defer l.Close()
	put(t, sudo, "")
	must(t, os.Chmod(sudo, 0o755|fs.ModeSetuid))
	pipe := filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	executed := []observe.Access{use(sudo, observe.Executed)}
	for want, o := range map[string]observe.Observation{
		"": {Accesses: executed}, "no filter": {Blind: "no filter", Contact: "x"}, "the tool connects to a process outside: port 9": {Contact: "port 9"},
		"the tool connects to a process outside: socket " + server:                 {Accesses: []observe.Access{use(server, observe.Connected), use(server+"2", observe.Connected)}},
		"the tool runs " + sudo + ", which has no privileges while it is observed": {Accesses: executed, NoPrivileges: true},
		"the tool connects to a process outside: pipe " + pipe:                     {Accesses: []observe.Access{use(pipe, observe.Written)}},
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
	for b.Loop() {
		must(b, c.Changed())
	}
}
