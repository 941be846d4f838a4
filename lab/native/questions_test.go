package native_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/lab/native"
	"muster/lab/results"
)

// program finds a program by its name.
func program(t *testing.T, name string) native.Program {
	t.Helper()
	for _, p := range native.Programs() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no program %s", name)
	return native.Program{}
}

// output runs a program and returns its output.
func output(t *testing.T, b *native.Executable, flags ...string) string {
	t.Helper()
	args := append(b.Args[1:len(b.Args):len(b.Args)], flags...)
	c := exec.CommandContext(t.Context(), b.Args[0], args...)
	c.Dir = b.Dir
	line, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("%s %s: %v\n%s", b.Name, flags, err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// expect compares one line with a pattern in which N stands for any positive number.
func expect(t *testing.T, line, pattern string) {
	t.Helper()
	number := `[0-9]*\.?[0-9]*[1-9][0-9]*\.?[0-9]*`
	quoted := strings.ReplaceAll(regexp.QuoteMeta(pattern), "<N>", number)
	if !regexp.MustCompile(`^` + quoted + `\n$`).MatchString(line) {
		t.Errorf("printed %q, want %q", line, pattern)
	}
}

func TestCalls(t *testing.T) {
	built := build(t, program(t, "cgo"))
	for _, impl := range built.Impls {
		expect(t, output(t, built, "-impl", impl, "-ops", "1000"),
			"BenchmarkCall/impl="+impl+"/goroutines=1 1000 <N> ns/op <N> cpu-ns/op")
		expect(t, output(t, built, "-impl", impl, "-ops", "1007", "-goroutines", "8"),
			"BenchmarkCall/impl="+impl+"/goroutines=8 1000 <N> ns/op <N> cpu-ns/op")
	}
}

// A machine without a C compiler lacks the calls.
func TestCallsWithoutCompiler(t *testing.T) {
	goProgram, err := exec.LookPath("go")
	if err != nil {
		missing(t, err)
	}
	bin := t.TempDir()
	if err := os.Symlink(goProgram, filepath.Join(bin, "go")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("CC", "")
	_, err = program(t, "cgo").Build(t.Context(), t.TempDir())
	var none *results.Missing
	if !errors.As(err, &none) || !strings.Contains(none.Reason, "C compiler") || !strings.Contains(none.Install, "gcc") {
		t.Errorf("without a C compiler: %v", err)
	}
}

// If goroutines outnumber the server's connections, they wait for one another's.
func TestInserts(t *testing.T) {
	built := build(t, program(t, "inserts"))
	for goroutines, connections := range map[string]string{"2": "2", "120": "97"} {
		dir, err := os.MkdirTemp("", "muster-test-") // another user may not enter t.TempDir
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		expect(t, output(t, built, "-dir", dir, "-goroutines", goroutines, "-rows", "120"),
			"BenchmarkInsert/impl=postgres/goroutines="+goroutines+" 120 <N> ns/op <N> cpu-ns/op <N> rss-B "+connections+" connections")
	}
}
