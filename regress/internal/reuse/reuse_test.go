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
		known[fmt.Sprint(i)] = Case{Outcome: is.Digest()}
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
			_, _ = e.Run(t.Context(), job(fmt.Sprint(i))) // the executor notes an error
		}
	}
	return n
}

// Nothing is reused before every guarded case gave its outcome. Then the others do not run.
func TestGuard(t *testing.T) {
	p := &player{}
	e := rig(p)
	if _, err := e.Run(t.Context(), job("other")); err != nil || e.Reused("other") {
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
		r, err := e.Run(t.Context(), j)
		if err != nil || r.Reused == e.IsGuarded(name) || r.Reused != e.Reused(name) {
			t.Errorf("%s: reused %v, guarded %v, %v", name, r.Reused, e.IsGuarded(name), err)
		}
	}
	if len(p.ran) != 3+guardLeast {
		t.Errorf("%q ran", p.ran)
	}
}

// One other outcome, one failure, or one guarded case that did not run ends reuse.
func TestGuardFails(t *testing.T) {
	for texts, want := range map[string]*Mismatch{"other": {"1", []string{"stdout"}}, "": {"1", nil}} {
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
		if _, _ = e.Run(t.Context(), job(fmt.Sprint(i))); e.Reused(fmt.Sprint(i)) {
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
func TestRan(t *testing.T) {
	p := &player{texts: map[string]string{"a": "x"}}
	e := New(p, nil)
	for _, fresh := range []bool{false, true} {
		j := job("a")
		j.Fresh = fresh
		if _, err := e.Run(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		p.texts["a"] = "y"
	}
	x := printing("x")
	if e.Ran("a") != x.Digest() || e.Ran("b") != (outcome.Digest{}) {
		t.Errorf("ran %s", e.Ran("a"))
	}
	cut := exec.NewResult(outcome.Outcome{Ending: regress.Ending{Kind: regress.TimedOut}}, outcome.Cost{}, 0, nil, nil)
	if e.look(job("a"), cut, nil); e.Ran("a") != (outcome.Digest{}) {
		t.Error("a run that a limit ended counts")
	}
}

// What is written is read again, also names that are no text. Damage is an empty memory.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool\xff")
	must(t, os.WriteFile(tool, []byte("x"), 0o755))
	file := filepath.Join(dir, "reuse", Name(map[string]string{"a": "b"}))
	m := Memory{
		Files:  []closure.File{{Path: tool, Resolved: tool, Role: closure.Program, Digest: outcome.Of([]byte("x"))}},
		Places: []closure.Place{{Path: "/none", State: "absent", IsListed: true}},
		Cases:  map[string]Case{"a\xff": {Source: outcome.Of(nil), Outcome: outcome.Of([]byte("o")), Runs: 3, Run: "r"}},
	}
	must(t, m.Write(file))
	got := Read(file)
	if got.OtherMode() != "" {
		t.Errorf("the mode of %q changed", got.OtherMode())
	}
	must(t, os.Chmod(tool, 0o700))
	if got.OtherMode() != tool {
		t.Error("another mode is not seen")
	}
	if got.modes = nil; !reflect.DeepEqual(got, m) {
		t.Errorf("read %+v, want %+v", got, m)
	}
	for _, text := range []string{"", "{", `{"version":2,"cases":[{}]}`} {
		must(t, os.WriteFile(file, []byte(text), 0o644))
		if got := Read(file); len(got.Cases) > 0 {
			t.Errorf("%q is read as %+v", text, got)
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
