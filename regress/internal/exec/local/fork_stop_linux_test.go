package local

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress/internal/exec"
)

// If the kernel reads the source to start the command, nothing can stop the command in time.
func TestNoForksOfScriptsRunByTheirSource(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool")
	must(t, os.WriteFile(tool, []byte("#!./libcase.so\n"), 0o700))
	r, c := forksOf(t, []string{tool}, false, nil, file{name: "a", body: "#!/bin/cat\n", exec: true})
	_, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry("a"), Command: c, Avoid: exec.NoLane, Fork: true})
	if no := (*exec.NoServer)(nil); !errors.As(err, &no) || !strings.Contains(no.Why, "the source is the interpreter") {
		t.Errorf("it is refused: %v", err)
	}
}

// A program without the shim may look at the source, and then become one that has the shim.
func TestNoForksBehindAStaticProgram(t *testing.T) {
	dir := t.TempDir()
	front, script := filepath.Join(dir, "front"), filepath.Join(dir, "script")
	must(t, os.WriteFile(front+".c", []byte("#include <unistd.h>\nint main(int n, char **args) { args[0] = \"cat\"; args[1] = args[n - 1]; args[2] = 0; return execv(\"/bin/cat\", args); }\n"), 0o600))
	if out, err := osexec.CommandContext(t.Context(), "cc", "-static", "-o", front, front+".c").CombinedOutput(); err != nil {
		needed(t, "a static program: "+string(out))
	}
	must(t, os.WriteFile(script, []byte("#!"+front+"\n"), 0o700))
	for _, words := range [][]string{{front, "{in}"}, {script, "{in}"}, {"/usr/bin/env", front, "{in}"}, {"/bin/sh", "-c", "exec " + front + " $0", "{in}"}} {
		r, c := forksOf(t, words, false, nil, file{name: "a", body: "text"})
		_, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry("a"), Command: c, Avoid: exec.NoLane, Fork: true})
		if no := (*exec.NoServer)(nil); !errors.As(err, &no) {
			t.Errorf("%q is not refused: %v", words, err)
		}
	}
}

// Forks of Python would share a random hash seed. Options can make it random in spite of the variable.
func TestNoForksWithARandomHashSeed(t *testing.T) {
	where, err := osexec.CommandContext(t.Context(), "python3", "-c", "import os, sys; print(os.path.realpath(sys.executable))").Output()
	if err != nil {
		needed(t, "python3: "+err.Error())
	}
	python := strings.TrimSpace(string(where)) // python3 may be a script that looks for it
	script := filepath.Join(t.TempDir(), "script.py")
	must(t, os.WriteFile(script, []byte("import sys\nprint(open(sys.argv[1]).read())\n"), 0o600))
	for _, test := range []struct {
		option, seed string
		isRandom     bool
	}{{"-B", "0", false}, {"-B", "7", false}, {"-B", "", true}, {"-B", "random", true}, {"-I", "0", true}, {"-E", "0", true}, {"-R", "0", true}} {
		r, c := forksOf(t, []string{python, test.option, script, "{in}"}, false, []string{"PYTHONHASHSEED=" + test.seed}, file{name: "a", body: "text"})
		result, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry("a"), Command: c, Avoid: exec.NoLane, Fork: true})
		no := (*exec.NoServer)(nil)
		if errors.As(err, &no) != test.isRandom || test.isRandom && !strings.Contains(no.Why, "hash seed") {
			t.Errorf("%s, seed %q: %v", test.option, test.seed, err)
		}
		if err == nil {
			result.Release()
		}
	}
}

func forksOf(t *testing.T, words []string, stdin bool, env []string, files ...file) (*rig, *exec.Command) {
	t.Helper()
	shim := shimOf(t)
	r := newRig(t, pack(t, files...), func(o *Options) { o.Shim, o.Env = shim, env })
	c, err := exec.Resolve(words, false, stdin)
	must(t, err)
	c.As = "libcase.so"
	return r, c
}
