package native_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
)

// modesOf returns the modes of contestants for a question.
func modesOf(q native.Question) []string {
	return map[native.Question][]string{
		native.Dispatch: {"single", "batch", "producers", "foreach", "makespan", "barrier"},
		native.Spawn:    {"each", "waiting"},
	}[q]
}

// cache returns the folder that keeps contestants between test runs.
func cache(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MUSTER_TEST_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(user, "muster-test")
	}
	return filepath.Join(dir, "contestants")
}

// build builds a program. It ends the test if that is impossible here.
func build(t *testing.T, p native.Program) *native.Executable {
	t.Helper()
	if testing.Short() {
		t.Skip("contestants take a minute to build, and change seldom")
	}
	built, err := p.Build(t.Context(), cache(t))
	if none := (*results.Missing)(nil); errors.As(err, &none) {
		if p.Name == "java-virtual" {
			t.Skip(err) // Debian 12 has no JDK with virtual threads, nor has any registry
		}
		missing(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// missing ends a test that lacks a tool which scripts/install-test-tools installs.
func missing(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("%v: scripts/install-test-tools installs it", err)
	}
	t.Skip(err)
}

// programs calls do for each program that answers a question.
func programs(t *testing.T, q native.Question, do func(*testing.T, *native.Executable)) {
	t.Helper()
	for _, p := range native.Programs() {
		if p.Question == q {
			t.Run(p.Name, func(t *testing.T) { do(t, build(t, p)) })
		}
	}
}

// start runs a contestant. It returns the standard output and error, and the exit status.
func start(t *testing.T, b *native.Executable, flags string) (stdout, stderr string, status int) {
	t.Helper()
	args := slices.Concat(b.Args[1:], strings.Fields(flags))
	c := exec.CommandContext(t.Context(), b.Args[0], args...)
	c.Dir = b.Dir
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v", b.Name, flags, err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// Every contestant runs each mode and prints a valid line, or reports that it lacks the mode.
func TestDispatch(t *testing.T) {
	programs(t, native.Dispatch, func(t *testing.T, b *native.Executable) {
		for _, impl := range b.Impls {
			var modes []string
			for _, mode := range modesOf(native.Dispatch) {
				if runs(t, b, impl, mode) {
					modes = append(modes, mode)
				}
			}
			if !slices.Contains(modes, "single") && !slices.Contains(modes, "foreach") {
				t.Errorf("%s has only the modes %q", impl, modes)
			}
		}
	})
}

// runs runs one contestant in one mode, and reports whether it has the mode.
func runs(t *testing.T, b *native.Executable, impl, mode string) bool {
	t.Helper()
	stdout, stderr, status := start(t, b, "-impl "+impl+" -mode "+mode+" -workers 2 -tasks 800")
	switch status {
	case 0:
	case native.StatusNoSuchMode:
		return false
	default:
		t.Errorf("%s %s ends with %d: %s", impl, mode, status, stderr)
		return false
	}
	var name string
	var n int
	var wall, cpu float64
	if _, err := fmt.Sscanf(stdout, "%s %d %f ns/op %f cpu-ns/op\n", &name, &n, &wall, &cpu); err != nil || n < 1 || wall <= 0 {
		t.Errorf("%s %s prints %q: %v", impl, mode, stdout, err)
	}
	// A clock with ticks of 10 ms would report 0 or whole ticks.
	if used := math.Round(cpu * float64(n)); b.Language == "Java" && math.Mod(used, 1e7) == 0 {
		t.Errorf("%s %s took %.0f ns of CPU time: the clock has ticks", impl, mode, used)
	}
	if want := "BenchmarkDispatch/impl=" + impl + "/mode=" + mode + "/workers=2"; name != want {
		t.Errorf("%s %s prints %q, want %q", impl, mode, name, want)
	}
	return true
}

// All contestants reject invalid flags with status 2, and an unknown mode with status 8.
func TestFlagsRefused(t *testing.T) {
	counts := map[native.Question]string{native.Dispatch: "-tasks", native.Spawn: "-count"}
	for q, count := range counts {
		programs(t, q, func(t *testing.T, b *native.Executable) {
			right := "-impl " + b.Impls[0] + " -mode " + modesOf(q)[0]
			for flags, want := range map[string]int{
				right + " -unknown 1":                     2,
				right + " " + count + " 0":                2,
				right + " " + count + " many":             2,
				right + " " + count:                       2,
				"-impl nonsense -mode " + modesOf(q)[0]:   2,
				"-impl " + b.Impls[0] + " -mode nonsense": native.StatusNoSuchMode,
			} {
				if stdout, stderr, status := start(t, b, flags); status != want || stdout != "" {
					t.Errorf("%s: exit status %d, want %d\n%s%s", flags, status, want, stdout, stderr)
				}
			}
		})
	}
}

// An overdue contestant ends with a status of its own: here 64 tasks of 1 ms have 10 ms.
func TestDeadlock(t *testing.T) {
	programs(t, native.Dispatch, func(t *testing.T, b *native.Executable) {
		flags := "-impl " + b.Impls[0] + " -mode makespan -workers 1 -patience 10"
		if stdout, stderr, status := start(t, b, flags); status != native.StatusDeadlock || stdout != "" {
			t.Errorf("%s: exit status %d, want %d\n%s%s", flags, status, native.StatusDeadlock, stdout, stderr)
		}
	})
}

// Muster's pool and its contestants have the same modes.
func TestModes(t *testing.T) {
	if ours, theirs := probe.DispatchModes(), modesOf(native.Dispatch); !slices.Equal(ours, theirs) {
		t.Errorf("package probe has the modes %q, contestants %q", ours, theirs)
	}
}

// Names identify programs. A question and a name identify a contestant.
func TestNames(t *testing.T) {
	had := map[string]bool{}
	for _, p := range native.Programs() {
		names := []string{"program " + p.Name}
		for _, impl := range p.Impls {
			names = append(names, string(p.Question)+" "+impl)
		}
		for _, name := range names {
			if had[name] {
				t.Errorf("%s is there twice", name)
			}
			had[name] = true
		}
	}
}

// Without a compiler a program is missing, and the error names a remedy.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, p := range native.Programs() {
		if p.Language == "Java" {
			continue // JDKs are found without PATH: see TestNoJDK
		}
		_, err := p.Build(t.Context(), t.TempDir())
		var none *results.Missing
		if !errors.As(err, &none) || none.Install == "" || none.Peer != p.Name || !strings.Contains(err.Error(), "in PATH") {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// Two programs with equal sources and build commands are compiled once, and found again.
func TestBuiltOnce(t *testing.T) {
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	script := "#!/bin/sh\ncase $1 in build) ;; *) echo 1.0; exit ;; esac\necho built >>" + log + "; mkdir -p target/release; : >target/release/dispatch; : >target/release/spawn\n"
	if err := os.WriteFile(filepath.Join(bin, "cargo"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	dir := t.TempDir()
	for range 2 {
		for _, p := range native.Programs() {
			if p.Language != "Rust" {
				continue
			}
			if _, err := p.Build(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	if text, err := os.ReadFile(log); err != nil || string(text) != "built\n" {
		t.Errorf("two programs of one build, built twice each: the compiler's log is %q, %v", text, err)
	}
}

// Neither an interrupted nor a failed build leaves anything.
func TestBuildLeavesNothing(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\ncase $1 in version) echo 1.0 ;; *) echo begins; echo 'an error in line 1'; exit 1 ;; esac\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	p := native.Programs()[0]
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := p.Build(ended, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("a build whose context has ended: %v", err)
	}
	var none *results.Missing
	if _, err := p.Build(t.Context(), dir); !errors.As(err, &none) || none.Reason != "an error in line 1" {
		t.Errorf("a build that fails: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
