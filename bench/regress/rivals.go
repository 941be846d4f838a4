package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"muster/bench/timing"
	"muster/lab/corpora"
)

// tool is a compiler, or what stands for one. IN and OUT are replaced.
type tool struct {
	name string
	args []string
}

var tools = []tool{
	{"tcc", []string{"tcc", "-c", "IN", "-o", "OUT"}},
	{"gcc", []string{"gcc", "-S", "IN", "-o", "OUT"}},
	{"true", []string{"/bin/true", "IN"}}, // without an argument it does not even read the locale
}

// with puts two names into the command.
func (t tool) with(in, out string) []string {
	args := make([]string, len(t.args))
	for i, a := range t.args {
		args[i] = strings.NewReplacer("IN", in, "OUT", out).Replace(a)
	}
	return args
}

func (t tool) line(in, out string) string { return strings.Join(t.with(in, out), " ") }

// place is where the rivals work: a folder with the unpacked sources and a list
// of their names.
type place struct {
	dir, archive string
	jobs         int
	goport       string
}

const listName = "cases.list"

// rival is another way to run a tool on every source. All but the Go port find
// the sources unpacked, and none of them compares anything.
type rival struct {
	name    string
	program string // that must be there
	// prepare writes what it wants to have; not timed.
	prepare func(p place, t tool, cases []string) error
	command func(p place, t tool) []string
	// accepted exit statuses: some of the sources do not compile.
	accepted []int
	kind     string // of its row, or ""
}

func rivals(p place) []rival {
	jobs := strconv.Itoa(p.jobs)
	return []rival{
		{"make -j" + jobs, "make", writeMakefile, func(place, tool) []string {
			return []string{"make", "-r", "-R", "-s", "-k", "-j", jobs, "all"}
		}, []int{0, 2}, rowMake},
		{"xargs -P" + jobs, "xargs", nil, func(_ place, t tool) []string {
			return append([]string{"xargs", "-a", listName, "-P", jobs, "-I@"}, t.with("@", "@.o")...)
		}, []int{0, 123}, rowXargs},
		{"xargs -P1 (one after another)", "xargs", nil, func(_ place, t tool) []string {
			return append([]string{"xargs", "-a", listName, "-P", "1", "-I@"}, t.with("@", "@.o")...)
		}, []int{0, 123}, ""},
		{"plain Go port", p.goport, nil, func(p place, t tool) []string {
			return append([]string{p.goport, "-jobs", jobs, "-dir", filepath.Join(p.dir, "port"), p.archive}, t.args...)
		}, []int{0}, ""},
		{"ninja -j" + jobs, "ninja", writeNinja, func(place, tool) []string {
			return []string{"ninja", "--quiet", "-k", "0", "-j", jobs}
		}, []int{0, 1}, ""},
		{"LLVM lit -j" + jobs, "lit", writeLit, func(p place, _ tool) []string {
			return []string{"lit", "-q", "-j", jobs, p.dir}
		}, []int{0, 1}, ""},
		{"GNU parallel -j" + jobs, "parallel", nil, func(_ place, t tool) []string {
			return append([]string{"parallel", "-j", jobs, "-a", listName}, t.with("{}", "{}.o")...)
		}, upTo(101), ""}, // the number of commands that failed, at most that
	}
}

func upTo(last int) (statuses []int) {
	for n := range last + 1 {
		statuses = append(statuses, n)
	}
	return statuses
}

func (r rival) missing() bool {
	_, err := exec.LookPath(r.program)
	return err != nil
}

func (r rival) timed(p place, t tool) timing.Command {
	return timing.Command{Args: r.command(p, t), Dir: p.dir}
}

func writeList(dir string, s corpora.Spec) error {
	text := strings.Join(corpora.Cases(s), "\n") + "\n"
	return os.WriteFile(filepath.Join(dir, listName), []byte(text), 0o644)
}

func writeMakefile(p place, t tool, _ []string) error {
	text := fmt.Sprintf("sources := $(file <%s)\nall: $(addsuffix .o,$(sources))\n%%.o: %%\n\t@%s\n", listName, t.line("$<", "$@"))
	return os.WriteFile(filepath.Join(p.dir, "Makefile"), []byte(text), 0o644)
}

func writeNinja(p place, t tool, cases []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "rule cc\n command = %s\n", t.line("$in", "$out"))
	for _, name := range cases {
		fmt.Fprintf(&b, "build %s.o: cc %s\n", name, name)
	}
	return os.WriteFile(filepath.Join(p.dir, "build.ninja"), []byte(b.String()), 0o644)
}

// writeLit writes the test format that runs one command for each file, which lit had until
// version 22. It is a module of its own, because lit's workers receive its objects by name.
func writeLit(p place, t tool, _ []string) error {
	command := "'" + strings.Join(t.with("%s", "%s.o"), "', '") + "'"
	format := fmt.Sprintf(`import lit.formats, lit.util, lit.Test

class OneCommand(lit.formats.FileBasedTest):
    def execute(self, test, litConfig):
        out, err, code = lit.util.executeCommand([w.replace("%%s", test.getSourcePath()) for w in [%s]])
        return (lit.Test.FAIL if code or out or err else lit.Test.PASS), out + err
`, command)
	if err := os.WriteFile(filepath.Join(p.dir, "onecommand.py"), []byte(format), 0o644); err != nil {
		return err
	}
	config := fmt.Sprintf(`import sys
sys.path.insert(0, r"%s")
import onecommand
config.name = "bench"
config.suffixes = [".c"]
config.test_format = onecommand.OneCommand()
`, p.dir)
	return os.WriteFile(filepath.Join(p.dir, "lit.cfg.py"), []byte(config), 0o644)
}

// clean removes what a run left, so that the next one begins as this did.
func clean(dir string) error {
	if err := os.RemoveAll(filepath.Join(dir, "port")); err != nil {
		return err
	}
	for _, name := range []string{".ninja_log", ".ninja_deps", ".lit_test_times.txt"} {
		os.Remove(filepath.Join(dir, name)) // most of them are not there
	}
	outputs, err := filepath.Glob(filepath.Join(dir, "src/*/*.o"))
	if err != nil {
		return err
	}
	for _, path := range outputs {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
