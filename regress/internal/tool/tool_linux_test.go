package tool_test

import (
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/tool"
)

// workbench is a folder with files, which is the current folder and the first one in PATH.
func workbench(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return dir
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
}

func resolve(t *testing.T, shell bool, words ...string) *exec.Command {
	t.Helper()
	c, err := exec.Resolve(words, shell, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// none leaves out no file.
func none(string) bool { return false }

// build returns the tool of a run that cannot observe it.
func build(t *testing.T, o tool.Options) *closure.Closure {
	t.Helper()
	if o.Leave == nil {
		o.Leave = none
	}
	o.Digests = filedigest.Open("")
	known, err := tool.Known(o)
	if err != nil {
		t.Fatal(err)
	}
	return known.With(tool.Shown(t.Context(), o))
}

// filesOf lists the files below a folder, relative to it, with their roles.
func filesOf(id *closure.Closure, dir string) string {
	var list []string
	for f := range id.All() {
		if below, ok := strings.CutPrefix(f.Path, dir+"/"); ok {
			list = append(list, fmt.Sprintf("%s(%s)", below, f.Role))
		}
	}
	return strings.Join(list, " ")
}

// Every file that a command line shows is found, and no other.
func TestFilesOfCommands(t *testing.T) {
	dir := workbench(t, map[string]string{
		"comp": "#!/bin/sh\n", "gen.sh": "", "conf": "", "log": "", "sub/other": "#!/bin/sh\n", "a b": "",
		"interp": "#!/bin/sh\n", "envscript": "#!/usr/bin/env -S comp -e\n",
		"lib/a.py": "", "lib/deep/b.py": "", "lib/c.txt": "",
	})
	put(t, filepath.Join(dir, "script"), "#!"+dir+"/interp -x\n")
	for name, c := range map[string]struct {
		o     tool.Options
		words []string
		shell bool
		want  string
	}{
		"executable":         {words: []string{"./comp", "{in}"}, want: "comp(executable)"},
		"by PATH":            {words: []string{"comp"}, want: "comp(executable)"},
		"relative word":      {words: []string{"sh", "gen.sh", "{in}"}, want: "gen.sh(word)"},
		"absolute word":      {words: []string{"sh", dir + "/gen.sh", "{in}"}, want: "gen.sh(word)"},
		"word by PATH":       {words: []string{"env", "comp"}, want: "comp(word)"},
		"in an option":       {words: []string{"sh", "--config=" + dir + "/conf", "@log", "A=gen.sh:x"}, want: "conf(word) gen.sh(word) log(word)"},
		"script of a word":   {words: []string{"sh", "-c", "exec comp {in} > log"}, want: "comp(word)"},
		"shell":              {words: []string{"A=1 comp {in} | sh gen.sh", ">", dir + "/log"}, shell: true, want: "comp(word) gen.sh(word)"},
		"shell, quoted":      {words: []string{`x=$(comp {in}); cat "sub/other"`}, shell: true, want: "comp(word) sub/other(word)"},
		"interpreters":       {words: []string{"./script"}, want: "interp(word) script(executable)"},
		"env":                {words: []string{"./envscript"}, want: "comp(word) envscript(executable)"},
		"other PATH":         {o: tool.Options{Env: []string{"PATH=" + dir + "/sub:/bin"}}, words: []string{"env", "other", "comp"}, want: "comp(word) sub/other(word)"},
		"given":              {o: tool.Options{Add: []string{"lib/**/*.py"}}, words: []string{"true"}, want: "lib/a.py(given) lib/deep/b.py(given)"},
		"given, absolute":    {o: tool.Options{Add: []string{dir + "/lib/*"}}, words: []string{"true"}, want: "lib/a.py(given) lib/c.txt(given)"},
		"left out":           {o: tool.Options{Leave: func(path string) bool { return path == dir+"/gen.sh" }}, words: []string{"comp", "gen.sh"}, want: "comp(executable)"},
		"no file":            {words: []string{"comp", "{dir}/conf", "conf{in}", "sub"}, want: "comp(executable)"},
		"a word with blanks": {words: []string{"sh", "a b"}, want: "a b(word)"},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Commands = []*exec.Command{resolve(t, c.shell, c.words...)}
			if got := filesOf(build(t, c.o), dir); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Of an observed tool, only the executables and what the user gave are known before.
func TestKnownFiles(t *testing.T) {
	dir := workbench(t, map[string]string{"script": "#!/usr/bin/env sh\n", "gen.sh": "", "given": ""})
	o := tool.Options{Commands: []*exec.Command{resolve(t, false, "./script", "gen.sh")}, Leave: none, Add: []string{"give*"}, Digests: filedigest.Open("")}
	id, err := tool.Known(o)
	if err != nil || filesOf(id, dir) != "given(given) script(executable)" || len(id.Files) != 2 {
		t.Errorf("%v, %v", id, err)
	}
	o.Add = []string{"a["}
	if _, err := tool.Known(o); regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), "--tool-file: ") {
		t.Errorf("%v", err)
	}
}

// Interpreters and libraries of a program of this machine belong to it, and files of the
// kernel's do not.
func TestProgramsAreWhole(t *testing.T) {
	workbench(t, map[string]string{"comp": "#!/bin/sh\n"})
	id := build(t, tool.Options{Commands: []*exec.Command{resolve(t, false, "comp", "/proc/uptime", "/dev/null")}})
	roles := map[closure.Role]int{}
	for f := range id.All() {
		roles[f.Role]++
		if strings.HasPrefix(f.Path, "/proc/") || f.Stamp == "" || f.Digest == id.Digest("") {
			t.Errorf("%+v", f)
		}
	}
	if roles[closure.Executable] != 1 || roles[closure.Word] != 1 || roles[closure.Opened] < 2 {
		t.Errorf("%v of a script for /bin/sh", roles)
	}
}

// Libraries are those that the cases get: by $ORIGIN, and by LD_LIBRARY_PATH only if the cases
// have it.
func TestLibraries(t *testing.T) {
	cc, err := osexec.LookPath("gcc")
	if err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := workbench(t, map[string]string{
		"inner.c": "int inner(void) { return 7; }\n",
		"outer.c": "int inner(void); int outer(void) { return inner(); }\n",
		"main.c":  "int outer(void); int main(void) { return outer(); }\n",
		"else/x":  "",
	})
	for _, args := range [][]string{
		{"-shared", "-fPIC", "inner.c", "-o", "else/libinner.so"},
		{"-shared", "-fPIC", "outer.c", "-o", "libouter.so", "-Lelse", "-linner"},
		{"main.c", "-o", "program", "-L.", "-louter", "-Wl,-rpath,$ORIGIN", "-Wl,-rpath-link,else"},
	} {
		if out, err := osexec.CommandContext(t.Context(), cc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	t.Setenv("LD_LIBRARY_PATH", dir+"/else")
	commands := []*exec.Command{resolve(t, false, "./program")}
	const own = "libouter.so(opened) program(executable)"
	if got := filesOf(build(t, tool.Options{Commands: commands}), dir); got != own {
		t.Errorf("%s, want %s", got, own)
	}
	if got := filesOf(build(t, tool.Options{Commands: commands, Env: []string{"LD_LIBRARY_PATH=" + dir + "/else"}}), dir); got != "else/libinner.so(opened) "+own {
		t.Errorf("with LD_LIBRARY_PATH: %s", got)
	}
}

// A later identity tells which files are another, new or gone. Files that moved are the same.
func TestChangedSince(t *testing.T) {
	dir := workbench(t, map[string]string{"comp": "#!/bin/sh\n", "a": "1", "b": "1", "c": "3", "d": "4"})
	of := func(words ...string) *closure.Closure {
		return build(t, tool.Options{Commands: []*exec.Command{resolve(t, false, words...)}})
	}
	digests := filedigest.Open("")
	was := of("comp", "a", "c", "d").Known()
	if got, same := of("comp", "a", "c", "d").ChangedSince(was, digests); len(got) != 0 || same < 5 {
		t.Errorf("nothing changed: %q, %d the same", got, same)
	}
	put(t, filepath.Join(dir, "comp"), "#!/bin/sh\n:\n")
	put(t, filepath.Join(dir, "new"), "2")
	if err := os.Remove("d"); err != nil {
		t.Fatal(err)
	}
	got, _ := of("comp", "b", "new").ChangedSince(was, digests) // c is not used any more, and b is what a was
	if want := []string{dir + "/comp", dir + "/new", dir + "/d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	put(t, filepath.Join(dir, "d"), "3")
	was = of("comp", "c", "d").Known()
	put(t, filepath.Join(dir, "d2"), "3")
	if err := os.Remove("d"); err != nil {
		t.Fatal(err)
	}
	if got, _ := of("comp", "c").ChangedSince(was, digests); !slices.Equal(got, []string{dir + "/d"}) {
		t.Errorf("%q: a file is gone, though another had its content before", got)
	}
	if got, _ := of("comp", "c", "d2").ChangedSince(was, digests); len(got) > 0 {
		t.Errorf("%q: d moved", got)
	}
	if got, _ := of("comp").ChangedSince(nil, digests); got != nil {
		t.Errorf("a golden that knows no files: %q", got)
	}
	if got, _ := (*closure.Closure)(nil).ChangedSince(was, digests); got != nil {
		t.Errorf("no identity: %q", got)
	}
}
