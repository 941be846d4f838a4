package forkserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
)

// lanes is an executor whose cases print a text each.
type lanes struct {
	exec.Executor
	plain, fork func(caseName string) string
	err         error // of forks

	mu            sync.Mutex
	plains, forks map[string]int
	servers       int
}

func newLanes() *lanes {
	same := func(caseName string) string { return caseName }
	return &lanes{plain: same, fork: same, plains: map[string]int{}, forks: map[string]int{}}
}

func (l *lanes) Run(_ context.Context, j exec.Job) (*exec.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := ""
	switch name := j.Source.Name; {
	case j.Fork && l.err != nil:
		return nil, l.err
	case j.Fork:
		l.forks[name]++
		text = l.fork(name)
	default:
		l.plains[name]++
		text = l.plain(name)
	}
	if j.NewServer {
		l.servers++
	}
	return exec.NewResult(outcomeOf(text), outcome.Cost{}, 0, nil, nil), nil
}

func (l *lanes) RunAll(ctx context.Context, b exec.Batch) int {
	for i, j := range b.Jobs {
		b.Started(i)
		r, err := l.Run(ctx, j)
		b.Ended(i, r, err)
	}
	return len(b.Jobs)
}

func outcomeOf(text string) outcome.Outcome {
	return outcome.Outcome{Parts: []outcome.Part{{Key: outcome.Key{Place: outcome.Stdout}, Size: int64(len(text)), Digest: outcome.Of([]byte(text))}}}
}

// known is a golden in which every case printed its name.
func known(caseName string, is outcome.Digest) bool {
	o := outcomeOf(caseName)
	return o.Digest() == is
}

func names(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint("c", i))
	}
	return list
}

// trial runs all cases as a check does: first the guarded ones, then the others, eight at once. It
// returns the results.
func trial(t *testing.T, e *Executor, cases []string) map[string]*exec.Result {
	t.Helper()
	results := map[string]*exec.Result{}
	run := func(guarded bool) {
		var jobs []exec.Job
		for _, name := range cases {
			if e.IsGuarded(name) == guarded {
				jobs = append(jobs, exec.Job{Source: corpus.Entry{Name: name}, Command: e.command, Avoid: exec.NoLane})
			}
		}
		for len(jobs) > 0 {
			b := exec.Batch{Jobs: jobs[:min(8, len(jobs))], Started: func(int) {}}
			b.Ended = func(i int, r *exec.Result, err error) {
				if err != nil {
					t.Error(err)
				}
				if results[b.Jobs[i].Source.Name] != nil {
					t.Errorf("%s ended twice", b.Jobs[i].Source.Name)
				}
				results[b.Jobs[i].Source.Name] = r
			}
			jobs = jobs[e.RunAll(t.Context(), b):]
		}
	}
	e.Guard(cases, func(caseName string) bool { return strings.HasSuffix(caseName, "7") })
	run(true)
	e.Admit()
	run(false)
	if len(results) != len(cases) {
		t.Errorf("%d of %d cases ended", len(results), len(cases))
	}
	return results
}

// Most cases are forks, once the guarded ones agreed with forks of two servers.
func TestForks(t *testing.T) {
	l := newLanes()
	e := New(l, &exec.Command{}, known)
	cases := names(1000)
	results := trial(t, e, cases)
	if why, m := e.End(); why != "" || m {
		t.Errorf("ended: %s %v", why, m)
	}
	forked, guarded, failing := 0, 0, 0
	for name, r := range results {
		if r.Forked {
			forked++
		}
		if e.IsGuarded(name) {
			guarded++
			if l.plains[name] != 1 || l.forks[name] != 2 || r.Forked {
				t.Errorf("guarded %s ran %d times plainly and %d times as a fork", name, l.plains[name], l.forks[name])
			}
			if strings.HasSuffix(name, "7") {
				failing++
			}
		}
	}
	if guarded != guardCases || failing < failingMax || l.servers != guardCases {
		t.Errorf("%d guarded cases, %d failing, %d further servers", guarded, failing, l.servers)
	}
	if sampled := 1000 - guardCases - forked; forked != e.Forks() || sampled < 15 || sampled > 20 {
		t.Errorf("%d forks, %d sampled", forked, sampled)
	}
}

// A fork with another outcome than the plain run ends the forks. The result is that of the plain run.
func TestMismatch(t *testing.T) {
	for name, wrong := range map[string]func(string) bool{
		"always": func(string) bool { return true },
		"late":   func(caseName string) bool { return false },
	} {
		l := newLanes()
		e := New(l, &exec.Command{}, known)
		cases := names(3000)
		l.fork = func(caseName string) string {
			if wrong(caseName) || name == "late" && !e.IsGuarded(caseName) && e.forking {
				return "wrong"
			}
			return caseName
		}
		for _, r := range trial(t, e, cases) {
			if !known("x", r.Outcome.Digest()) && r.Forked {
				t.Errorf("%s: a wrong fork counts", name)
				break
			}
		}
		if why, m := e.End(); !m || !strings.HasSuffix(why, "has another outcome as a fork (stdout)") {
			t.Errorf("%s: %q, %v", name, why, m)
		}
	}
}

// A case that varies from plain run to plain run shows nothing about forks.
func TestVarying(t *testing.T) {
	l := newLanes()
	runs := 0
	l.plain = func(caseName string) string {
		if runs++; strings.HasSuffix(caseName, "3") {
			return fmt.Sprint(runs)
		}
		return caseName
	}
	e := New(l, &exec.Command{}, known)
	trial(t, e, names(500))
	if why, m := e.End(); why != "" || m || e.Forks() < 300 {
		t.Errorf("%d forks: %s %v", e.Forks(), why, m)
	}
}

// An outcome that is not the golden's comes from a plain run.
func TestUnknownOutcome(t *testing.T) {
	l := newLanes()
	other := func(caseName string) string { return "other" + caseName }
	l.plain, l.fork = other, other
	e := New(l, &exec.Command{}, known)
	for name, r := range trial(t, e, names(200)) {
		if r.Forked || l.plains[name] == 0 {
			t.Errorf("%s is a fork", name)
		}
	}
}

// A tool that is not fit runs plainly, and the reason is that of the lane.
func TestNotFit(t *testing.T) {
	for want, err := range map[string]error{"it sings": &exec.NoServer{Why: "it sings"}, "a fork failed: broken": errors.New("broken")} {
		l := newLanes()
		l.err = err
		e := New(l, &exec.Command{}, known)
		trial(t, e, names(200))
		if why, m := e.End(); why != want || m || e.Forks() != 0 {
			t.Errorf("%q, %v, %d forks", why, m, e.Forks())
		}
	}
}

// The shim is compiled once.
func TestBuild(t *testing.T) {
	cache := t.TempDir()
	file, err := Build(t.Context(), cache)
	if no := (*exec.NoServer)(nil); errors.As(err, &no) && os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skip(no.Why)
	}
	if err != nil {
		t.Fatal(err)
	}
	built, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Build(t.Context(), cache); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := os.Stat(file); err != nil || !os.SameFile(built, again) {
		t.Errorf("it was built again: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*", "building-*")); len(left) > 0 {
		t.Errorf("it leaves %s", left)
	}
	if _, err := Build(t.Context(), filepath.Join(cache, "with:colon")); !errors.As(err, new(*exec.NoServer)) {
		t.Errorf("a path with a colon: %v", err)
	}
}

// A compiler that fails, or a cache that cannot be written, is a reason to run plainly.
func TestBuildFails(t *testing.T) {
	for want, script := range map[string]string{
		"the C compiler fails: no luck":         "echo no luck >&2; echo more; exit 1",
		"the C compiler fails (exit status 3)":  "exit 3",
		"the C compiler (BIN/cc) makes nothing": "exit 0",
		"its library cannot be written: CACHE/fork-server needs a folder where a file exists: name another path": "",
	} {
		bin, cache := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "cc"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if script == "" {
			if err := os.WriteFile(filepath.Join(cache, "fork-server"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", bin)
		no := (*exec.NoServer)(nil)
		_, err := Build(t.Context(), cache)
		if !errors.As(err, &no) {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if got := strings.NewReplacer(bin, "BIN", cache, "CACHE").Replace(no.Why); got != want && runtime.GOARCH == "amd64" {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
