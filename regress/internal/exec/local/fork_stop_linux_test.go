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
	"muster/regress/internal/forkserver"
)

// earlyTool prints what LOOK learned about the source before main, or early in it.
const earlyTool = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SEEN_ELSEWHERE
extern
#endif
long seen;
static int fileNumber(const char *name) {
	DIR *d = opendir(".");
	for (struct dirent *e; d && (e = readdir(d));) if (!strcmp(e->d_name, name)) return e->d_ino;
	return 0;
}
static struct stat st;
static long size(int r) { return r == 0 ? (long)st.st_size : -2; }
static void look(int count, char **args, char **env) { seen = (LOOK); }
#ifdef LIBRARY
__attribute__((constructor)) static void begin(int count, char **args, char **env) { look(count, args, env); }
#elif defined PREINIT
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = look;
#endif
#ifndef LIBRARY
int main(int count, char **args, char **env) {
#ifdef EARLY
	look(count, args, env);
#endif
	char text[100] = "";
	struct stat late;
	int fd = count == 2 ? open(args[1], O_RDONLY) : 0;
	fstat(fd, &late);
	long n = read(fd, text, sizeof text);
	if (seen == (long)late.st_ino) printf("the inode ");
	else printf("%ld ", seen);
	printf("%.*s\n", (int)n, text);
	return 0;
}
#endif
`

// Whatever a command learns about its source before main, or without reading it, is true in every fork.
func TestForksKnowTheirSource(t *testing.T) {
	const (
		early   = `cc -w -DEARLY "-DLOOK=$LOOK" tool.c -o tool`
		preinit = `cc -w -DPREINIT "-DLOOK=$LOOK" tool.c -o tool`
		library = `cc -w -shared -fPIC -DLIBRARY "-DLOOK=$LOOK" tool.c -o libearly.so; cc -w -DSEEN_ELSEWHERE -DLOOK=0 tool.c -o tool -L. -learly -Wl,-rpath,$PWD`
	)
	for _, c := range []struct {
		name, build, look string
		stdin             bool
	}{
		{"constructor of a library", library, "size(stat(args[1], &st))", false},
		{"constructor of the first library", strings.Replace(library, "-shared", "-shared -Wl,-z,initfirst", 1), "size(stat(args[1], &st))", false},
		{"array before the constructors", preinit, "size(stat(args[1], &st))", false},
		{"inode in its folder", early, "fileNumber(args[1])", false},
		{"size of the input", early, "size(fstat(0, &st))", true},
		{"size of the input by a path", early, `size(stat("/dev/stdin", &st))`, true},
		{"inode of the input", early, "fstat(0, &st), st.st_ino", true},
		{"inode of the input by statx", early, `({ struct statx x; statx(0, "", AT_EMPTY_PATH, STATX_INO, &x); x.stx_ino; })`, true},
		{"end of the input", early, "lseek(0, 0, SEEK_END) + lseek(0, 0, SEEK_SET)", true},
		{"bytes in the input", early, "({ int n; ioctl(0, FIONREAD, &n); n; })", true},
		{"mapped input", early, "*(char *)mmap(0, 1, PROT_READ, MAP_PRIVATE, 0, 0)", true},
		{"copy of the input", early, "size(fstat(dup(0), &st))", true},
		{"copy of the input by fcntl", early, "size(fstat(fcntl(0, F_DUPFD, 20), &st))", true},
		{"input in a constructor", library, "size(fstat(0, &st))", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "tool.c"), []byte(earlyTool), 0o600))
			build(t, dir, c.build, "LOOK="+c.look)
			words := []string{filepath.Join(dir, "tool")}
			if !c.stdin {
				words = append(words, "{in}")
			}
			forksAreRight(t, words, c.stdin, nil, file{name: "a", body: "short"}, file{name: "b", body: "a longer one"})
		})
	}
}

// The dynamic linker may load the source. The fork of the command does so.
func TestForksLoadTheirSource(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, `for w in a b; do echo 'const char *word(void) { return "'$w'"; }' | cc -shared -fPIC -x c - -o $w; done
		echo '#include <stdio.h>
		const char *word(void);
		int main() { fopen("libcase.so", "r"); puts(word()); }' > tool.c
		cp a libcase.so; cc -w tool.c -o tool -L. -lcase; rm libcase.so`)
	var files []file
	for _, name := range []string{"a", "b"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		files = append(files, file{name: name, body: string(text), exec: true})
	}
	for _, env := range []string{"LD_LIBRARY_PATH=.", "LD_PRELOAD=./libcase.so"} {
		if strings.HasPrefix(env, "LD_PRELOAD") {
			build(t, dir, `cc -w tool.c -o tool -Wl,--unresolved-symbols=ignore-all`)
		}
		forksAreRight(t, []string{filepath.Join(dir, "tool")}, false, []string{env}, files...)
	}
}

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

// forksAreRight compares two forks of one server with plain runs.
func forksAreRight(t *testing.T, words []string, stdin bool, env []string, files ...file) {
	t.Helper()
	r, c := forksOf(t, words, stdin, env, files...)
	for _, f := range files {
		run := func(fork bool) []string {
			result, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry(f.name), Command: c, Avoid: exec.NoLane, Fork: fork})
			must(t, err)
			defer result.Release()
			return r.tell(result)
		}
		fork, plain := run(true), run(false)
		r.want(fork, plain...)
	}
}

func forksOf(t *testing.T, words []string, stdin bool, env []string, files ...file) (*rig, *exec.Command) {
	t.Helper()
	shim, err := forkserver.Build(t.Context(), t.TempDir())
	if errors.As(err, new(*exec.NoServer)) {
		needed(t, err.Error())
	}
	must(t, err)
	r := newRig(t, pack(t, files...), func(o *Options) { o.Shim, o.Env = shim, env })
	c, err := exec.Resolve(words, false, stdin)
	must(t, err)
	c.As = "libcase.so"
	return r, c
}

// build runs a script that compiles a tool.
func build(t *testing.T, dir, script string, env ...string) {
	t.Helper()
	c := osexec.CommandContext(t.Context(), "sh", "-ec", script)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		needed(t, "cc: "+err.Error()+" "+string(out))
	}
}
