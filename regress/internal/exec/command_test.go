package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"muster/regress"
	"muster/regress/internal/exec"
)

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		words        []string
		shell, stdin bool
		name         string
		want         []string
	}{
		{[]string{"true"}, false, false, "a/b.go", []string{"true", "a/b.go"}},
		{[]string{"true", "-c", "{in}", "-o", "{out}"}, false, false, "a/b.c", []string{"true", "-c", "a/b.c", "-o", "a/b.c.out"}},
		{[]string{"true", "{stem}.o", "{name}", "{dir}", "{other}", "{"}, false, false, "a/b.tar.gz", []string{"true", "a/b.tar.o", "b.tar.gz", "a", "{other}", "{"}},
		{[]string{"true", "{stem}", "{dir}"}, false, false, ".rc", []string{"true", ".rc", "."}},
		{[]string{"true", "--in={in}{in}"}, false, false, "-x.go", []string{"true", "--in=./-x.go./-x.go"}},
		{[]string{"true"}, false, true, "a.go", []string{"true"}},
		{[]string{"true", "{out}"}, false, true, "a.go", []string{"true", "a.go.out"}},
		{[]string{"cat {in} |", "wc"}, true, false, "a b;c", []string{"/bin/sh", "-c", "cat 'a b;c' | wc"}},
		{[]string{"wc -l"}, true, false, "it's", []string{"/bin/sh", "-c", `wc -l 'it'"'"'s'`}},
		{[]string{"true", "{in}"}, false, false, "{out}", []string{"true", "{out}"}},
	} {
		cmd, err := exec.Resolve(c.words, c.shell, c.stdin)
		if err != nil {
			t.Fatal(err)
		}
		if got := cmd.Args(c.name); !slices.Equal(got, c.want) {
			t.Errorf("%q for %q: %q, want %q", c.words, c.name, got, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("tool", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := exec.Resolve([]string{"./tool"}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "tool"); c.Path != want || c.Args("x")[0] != want {
		t.Errorf("path %q, argument 0 %q, want %q", c.Path, c.Args("x")[0], want)
	}
	for word, want := range map[string]string{
		"no-such-command": "PATH has no such program", "./no-such": "no such file or directory",
		"./tool/x": "not a directory", dir: "is a directory",
	} {
		_, err := exec.Resolve([]string{word}, false, false)
		if regress.ClassOf(err) != regress.Environment {
			t.Errorf("%q: %v, want a failure of the environment", word, err)
		}
		if want := fmt.Sprintf("command %q cannot be run: %s", word, want); fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := exec.Resolve(nil, false, false); regress.ClassOf(err) != regress.Input {
		t.Errorf("no command: %v, want an input error", err)
	}
}

// To read a pipe would never end, and nobody could interrupt it.
func TestPipeIsNoCommand(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "tool")
	if err := syscall.Mkfifo(pipe, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.Resolve([]string{pipe}, false, false); regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), pipe) {
		t.Errorf("%v", err)
	}
}
