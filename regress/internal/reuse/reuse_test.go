package reuse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func printing(text string) outcome.Outcome {
	return outcome.Outcome{Parts: []outcome.Part{{Key: outcome.Key{Place: outcome.Stdout}, Digest: outcome.Of([]byte(text))}}}
}

// player is an executor that prints a text for each case, and runs at most two cases of a batch.
type player struct {
	exec.Executor
	texts map[string]string // "" = it fails
	ran   []string
}

func (p *player) Run(_ context.Context, j exec.Job) (*exec.Result, error) {
	p.ran = append(p.ran, j.Source.Name)
	text, is := p.texts[j.Source.Name]
	if is && text == "" {
		return nil, errors.New("a bad disk")
	}
	return exec.NewResult(printing(text), outcome.Cost{Wall: time.Second}, 0, nil, nil), nil
}

func (p *player) RunAll(ctx context.Context, b exec.Batch) int {
	n := min(2, len(b.Jobs))
	for i, j := range b.Jobs[:n] {
		b.Started(i)
		r, err := p.Run(ctx, j)
		b.Ended(i, r, err)
	}
	return n
}

// rig returns an executor that knows 50 cases, which all printed "". The first three guard the others.
func rig(p *player) *Executor {
	is := printing("")
	known := map[string]Case{}
	for i := range 50 {
		known[fmt.Sprint(i)] = Case{Outcome: is.Digest(), Runs: 7}
	}
	e := New(p, func(string, Case) *exec.Result {
		return exec.NewResult(printing(""), outcome.Cost{}, exec.NoLane, nil, nil)
	})
	e.Know(known, func(caseName string) bool { return caseName < "3" && len(caseName) == 1 })
	return e
}

func job(caseName string) exec.Job { return exec.Job{Source: corpus.Entry{Name: caseName}} }

// runGuard runs the guarded cases, and returns how many there are.
func runGuard(t *testing.T, e *Executor) (n int) {
	t.Helper()
	for i := range 50 {
		if e.IsGuarded(fmt.Sprint(i)) {
			n++
			_, _ = exec.Run(t.Context(), e, job(fmt.Sprint(i))) // the executor notes an error
		}
	}
	return n
}

// Nothing is reused before every guarded case gave its outcome. Then the others do not run.
func TestGuard(t *testing.T) {
	p := &player{}
	e := rig(p)
	if r, err := exec.Run(t.Context(), e, job("other")); err != nil || r.Reused {
		t.Errorf("reused early, %v", err)
	}
	if n := runGuard(t, e); n != 3+guardLeast {
		t.Errorf("%d cases guard the others", n)
	}
	if m := e.Answer(); m != nil {
		t.Fatalf("mismatch %+v", m)
	}
	p.ran = nil
	for i := range 50 {
		name := fmt.Sprint(i)
		j := job(name)
		j.Fresh = true
		r, err := exec.Run(t.Context(), e, j)
		if err != nil || r.Reused == e.IsGuarded(name) || r.Reused != (e.Gave(name).Runs == 7) {
			t.Errorf("%s: reused %v as %v, guarded %v, %v", name, r.Reused, e.Gave(name), e.IsGuarded(name), err)
		}
	}
	if len(p.ran) != 3+guardLeast {
		t.Errorf("%q ran", p.ran)
	}
}

// One other outcome, one failure, or one guarded case that did not run ends reuse.
func TestGuardFails(t *testing.T) {
	for texts, want := range map[string]*Mismatch{"other": {"1", "", []string{"stdout"}}, "": {"1", "", nil}} {
		e := rig(&player{texts: map[string]string{"1": texts}})
		runGuard(t, e)
		if m := e.Answer(); !reflect.DeepEqual(m, want) {
			t.Errorf("%q: mismatch %+v, want %+v", texts, m, want)
		}
		runAll(t, e)
	}
	e := rig(&player{})
	if m := e.Answer(); m != nil {
		t.Errorf("mismatch %+v", m)
	}
	runAll(t, e)
}

// runAll runs every case, and fails if one is reused.
func runAll(t *testing.T, e *Executor) {
	t.Helper()
	for i := range 50 {
		if r, _ := exec.Run(t.Context(), e, job(fmt.Sprint(i))); r != nil && r.Reused { // nil: it cannot run
			t.Errorf("%d is reused", i)
		}
	}
}

// A batch has cases of both kinds. Each job that counts as done ended once, in order.
func TestBatch(t *testing.T) {
	p := &player{}
	e := rig(p)
	runGuard(t, e)
	e.Answer()
	p.ran = nil
	known := func() string {
		for i := range 50 {
			if !e.IsGuarded(fmt.Sprint(i)) {
				return fmt.Sprint(i)
			}
		}
		return ""
	}()
	names := []string{known, "a", known, known, "b", "c", known, "d", "e", "f", "g"}
	jobs := make([]exec.Job, len(names))
	for i, name := range names {
		jobs[i] = job(name)
	}
	var started, ended []int
	n := e.RunAll(t.Context(), exec.Batch{
		Jobs:    jobs,
		Started: func(i int) { started = append(started, i) },
		Ended: func(i int, r *exec.Result, err error) {
			if ended = append(ended, i); err != nil || r.Reused != (names[i] == known) {
				t.Errorf("%s: reused %v, %v", names[i], r.Reused, err)
			}
		},
	})
	want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8} // the player runs two of d, e, f and g
	if n != len(want) || !slices.Equal(started, want) || !slices.Equal(ended, want) || !slices.Equal(p.ran, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("%d done, started %v, ended %v, ran %q", n, started, ended, p.ran)
	}
}

// The result of a limit is noted as none, and that of a further run not at all.
func TestGave(t *testing.T) {
	p := &player{texts: map[string]string{"a": "x"}}
	e := New(p, nil)
	for _, fresh := range []bool{false, true} {
		j := job("a")
		j.Fresh = fresh
		if _, err := exec.Run(t.Context(), e, j); err != nil {
			t.Fatal(err)
		}
		p.texts["a"] = "y"
	}
	x := printing("x")
	if e.Gave("a") != (Case{Outcome: x.Digest()}) || e.Gave("b") != (Case{}) {
		t.Errorf("a gave %v, b %v", e.Gave("a"), e.Gave("b"))
	}
	cut := exec.NewResult(outcome.Outcome{Ending: regress.Ending{Kind: regress.TimedOut}}, outcome.Cost{}, 0, nil, nil)
	if e.look(job("a"), cut, nil); e.Gave("a").HasOutcome() {
		t.Error("a run that a limit ended counts")
	}
}

// What is written is read again, also names that are no text. Every damage is an empty memory.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool\xff")
	must(t, os.WriteFile(tool, []byte("x"), 0o755))
	file := filepath.Join(dir, "reuse", Name(map[string]string{"a": "b"}))
	m := Memory{
		Tool: closure.Closure{
			Files:  []closure.File{{Path: tool, Role: closure.Program, Digest: outcome.Of([]byte("x"))}},
			Places: []closure.Place{{Path: "/none", State: "absent", IsListed: true}},
		},
		Cases: map[string]Case{"a\xff": {Source: outcome.Of(nil), Outcome: outcome.Of([]byte("o")), Runs: 3, Run: "r"}},
	}
	must(t, m.Write(file))
	got := Read(file)
	if got.looks = nil; !reflect.DeepEqual(got, m) {
		t.Errorf("read %+v, want %+v", got, m)
	}
	whole, err := os.ReadFile(file)
	must(t, err)
	for i := range whole {
		for what, text := range map[string][]byte{"cut": whole[:i], "damaged": slices.Concat(whole[:i], []byte{whole[i] ^ 1}, whole[i+1:])} {
			must(t, os.WriteFile(file, text, 0o644))
			if got := Read(file); len(got.Cases)+len(got.Tool.Files)+len(got.Tool.Places) > 0 {
				t.Fatalf("%s at byte %d, it is read as %+v", what, i, got)
			}
		}
	}
	other := []byte(`{"version":3,"cases":[{}]}`)
	must(t, os.WriteFile(file, slices.Concat([]byte(outcome.Of(other).String()+"\n"), other), 0o644))
	if got := Read(file); got.Cases != nil {
		t.Errorf("another version is read as %+v", got)
	}
}

// Write does not follow a symbolic link that stands where its temporary file goes.
func TestLinkInTheWay(t *testing.T) {
	dir := t.TempDir()
	file, precious := filepath.Join(dir, Name(nil)), filepath.Join(dir, "precious")
	must(t, os.WriteFile(precious, []byte("x"), 0o644))
	must(t, os.Symlink(precious, file+".new"))
	must(t, (&Memory{}).Write(file))
	if text, err := os.ReadFile(precious); string(text) != "x" {
		t.Errorf("the other file has %q, %v", text, err)
	}
}

// A path looks otherwise if a program can see that, though the contents and the names stay.
func TestLooks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{"a", "b", "listed", "listed/x", "asked", "asked/x"} {
		must(t, os.Mkdir(at(folder), 0o755))
	}
	for _, file := range []string{"a/tool", "b/tool", "data", "listed/own"} {
		must(t, os.WriteFile(at(file), []byte("same"), 0o755))
	}
	must(t, os.Symlink("a", at("version")))
	must(t, os.Symlink("version/tool", at("first")))
	m := Memory{Tool: closure.Closure{
		Files:  []closure.File{{Path: at("first"), Role: closure.Program}, {Path: at("data"), Role: closure.Opened}},
		Places: []closure.Place{{Path: at("listed"), IsListed: true}, {Path: at("asked")}, {Path: at("none")}},
		Own:    closure.Own{at("listed/own"): true},
	}}
	file := filepath.Join(t.TempDir(), Name(nil))
	swap := func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o644)) }
	for _, c := range []struct {
		how    string
		change func() error
		path   string
	}{
		{"nothing", func() error { return nil }, ""},
		{"the mode of a file", func() error { return os.Chmod(at("data"), 0o700) }, "data"},
		{"the mode of a folder", func() error { return os.Chmod(at("asked"), 0o700) }, "asked"},
		{"a link in a link", func() error { return errors.Join(os.Remove(at("version")), os.Symlink("b", at("version"))) }, "first"},
		{"another link to the same", func() error { return errors.Join(os.Remove(at("first")), os.Symlink("b/tool", at("first"))) }, "first"},
		{"a file for a folder in a listed one", func() error { return swap(at("listed/x")) }, "listed"},
		{"a file for a folder in another one", func() error { return swap(at("asked/x")) }, ""},
		{"a file of muster's own", func() error { return os.Remove(at("listed/own")) }, ""},
		{"a pipe for a listed folder", func() error { return errors.Join(os.RemoveAll(at("listed")), syscall.Mkfifo(at("listed"), 0o600)) }, "listed"},
		{"a dangling link for nothing", func() error { return os.Symlink("x", at("none")) }, "none"},
	} {
		must(t, m.Write(file))
		must(t, c.change())
		want := ""
		if c.path != "" {
			want = at(c.path)
		}
		if got := Read(file); got.LooksOther(m.Tool.Own) != want {
			t.Errorf("%s: %q looks otherwise, want %q", c.how, got.LooksOther(m.Tool.Own), want)
		}
	}
}

// The files of the last settings stay, and files of others.
func TestOldFilesGo(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "notes"), nil, 0o644))
	name := func(i int) string { return filepath.Join(dir, Name(map[string]string{"n": fmt.Sprint(i)})) }
	for i := range filesMax + 3 {
		must(t, (&Memory{}).Write(name(i)))
		old := time.Now().Add(time.Duration(i-100) * time.Minute)
		must(t, os.Chtimes(name(i), old, old))
	}
	must(t, (&Memory{}).Write(name(99)))
	for i, want := range map[int]bool{3: false, 4: true, filesMax + 2: true, 99: true} {
		if _, err := os.Stat(name(i)); (err == nil) != want {
			t.Errorf("file %d: %v", i, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "notes")); err != nil {
		t.Error(err)
	}
}

// A setting has a file of its own.
func TestName(t *testing.T) {
	first, second := Name(Machine()), Name(Machine())
	if Name(map[string]string{"a": "b", "c": "d"}) == Name(map[string]string{"a": "b\"c\" \"d"}) || first != second {
		t.Error("the names of settings")
	}
}

// A pipe in place of a file is no memory, and does not stop a check.
func TestReadOfPipe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pipe"+suffix)
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if m := Read(file); len(m.Cases) > 0 {
		t.Error("the pipe has cases")
	}
}

// A catalog of others cannot make a check read what has no end, nor too many paths.
func TestCatalogOfOthers(t *testing.T) {
	tool := closure.Closure{Files: []closure.File{{Path: "/checkout/tool", Role: closure.Executable}}, Places: []closure.Place{{Path: "/checkout"}, {Path: "/dev/log"}}}
	text, err := Catalog{}.With(&tool, "/checkout")
	must(t, err)
	if list := ReadCatalog(text).Tools("/other"); len(list) != 1 || list[0].Files[0].Path != "/other/tool" || len(list[0].Places) != 2 {
		t.Errorf("%+v", list)
	}
	for _, path := range []string{"/proc/self/pagemap", "/dev/zero", "/sys", "/usr/../proc/kmsg", "../proc/self/mem", "/a\x00b"} {
		spoilt := tool
		spoilt.Files = append(slices.Clone(tool.Files), closure.File{Path: path, Role: closure.Opened})
		text, err := Catalog{}.With(&spoilt, "/checkout")
		must(t, err)
		if list := ReadCatalog(text).Tools("/checkout"); len(list) != 0 {
			t.Errorf("%q is looked at", path)
		}
	}
	for i := range pathsMax {
		tool.Places = append(tool.Places, closure.Place{Path: fmt.Sprint("/checkout/", i)})
	}
	text, err = Catalog{}.With(&tool, "/checkout")
	must(t, err)
	if list := ReadCatalog(text).Tools("/checkout"); len(list) != 0 {
		t.Errorf("%d paths are looked at", len(list[0].Places))
	}
}
