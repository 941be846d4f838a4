package test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"muster/test/kits/buckettest"
)

// TestManual executes the console blocks of each page of the manual in order, in a folder of the
// page's own, and compares the output. In the manual "..." stands for any text. On a line of its own
// it stands for any lines.
func TestManual(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(path)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			found := examples(onFreePorts(t, string(text)))
			if slices.ContainsFunc(found, example.needsEngine) {
				bringEngine(t, dir)
			}
			for _, e := range found {
				e.check(t, bin, dir)
			}
		})
	}
}

// onFreePorts gives the servers and the engine of a page ports that no other program has.
func onFreePorts(t *testing.T, page string) string {
	server, engine := buckettest.Reserve(t), buckettest.Reserve(t)
	_, port, _ := strings.Cut(engine, ":")
	page = strings.NewReplacer("127.0.0.1:9999", server, "8980", port).Replace(page)
	return regexp.MustCompile(`(?m)^\$ muster (?:serve|load (?:upload|download|delete|clean))`).ReplaceAllString(page, "$0 --addr "+server)
}

// needsEngine reports whether an example needs an engine of the Remote Execution API.
func (e example) needsEngine() bool { return strings.HasPrefix(e.command, "scripts/remote-engine ") }

// bringEngine gives a page's examples the scripts that start and end an engine, and ends an
// engine that an example left.
func bringEngine(t *testing.T, dir string) {
	t.Helper()
	scripts, err := filepath.Abs("scripts")
	if err == nil {
		err = os.Symlink(scripts, filepath.Join(dir, "scripts"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, _ := filepath.Glob(filepath.Join(dir, "*", "pid")) // the pattern is valid
		for _, pid := range left {
			// the test's context has ended by now, and the engine may have
			_ = exec.CommandContext(context.Background(), "scripts/remote-engine", "stop", filepath.Dir(pid)).Run()
		}
	})
}

// TestManualNamesAll finds commands that the manual lacks, and flags and defaults in its tables that
// are not the program's. The help lists the flags that the tables lack.
func TestManualNamesAll(t *testing.T) {
	f := newFolder(t)
	checkManual(t, f, manual{pages: []string{"docs/regress.md", "docs/causes.md", "docs/reports.md", "docs/remote.md", "docs/install.md"}, group: "Main"})
	checkManual(t, f, manual{pages: []string{"docs/lab.md"}, above: []string{"lab"}, group: "Measure"})
	checkManual(t, f, manual{pages: []string{"docs/files.md"}, group: "Service", tables: []string{"serve"}, machine: []string{"--open-files"}})
	checkManual(t, f, manual{pages: []string{"docs/files.md"}, above: []string{"load"}, group: "Operations"})
	checkManual(t, f, manual{pages: []string{"docs/files.md"}, above: []string{"load"}, group: "Measure"})
	if all, _ := f.listed("Measure"); len(all) != 1 {
		t.Errorf("the commands that measure are %q: say here which manual has them", all)
	}
}

// TestManualLinks finds links to missing files and headings.
func TestManualLinks(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range append(pages, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllSubmatch(text, -1) {
			file, anchor, _ := strings.Cut(string(link[1]), "#")
			target := text
			if strings.Contains(file, "://") {
				continue
			}
			if file != "" {
				if target, err = os.ReadFile(filepath.Join(filepath.Dir(page), file)); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			}
			if anchor != "" && !slices.Contains(anchors(string(target)), anchor) {
				t.Errorf("%s: %s is the heading of nothing", page, link[1])
			}
		}
	}
}

// anchors returns the names under which a page's headings are found.
func anchors(page string) (names []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		plain := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(plain, " ", "-"))
	}
	return names
}

// manual is the pages that explain a group of commands, and their required content.
type manual struct {
	pages   []string
	above   []string // command whose subcommands it explains; empty = the program
	group   string   // title of the group in that command's help
	tables  []string // commands whose flags are in the tables
	machine []string // flags whose defaults depend on the machine
}

func (m manual) commands(f folder) []string {
	commands, others := f.listed(m.group, m.above...)
	if m.group == "Main" { // its manual is the program's
		return append(commands, others...)
	}
	return commands
}

// listed returns the commands of a group in a command's help, and those without a group.
func (f folder) listed(group string, above ...string) (commands, others []string) {
	f.Helper()
	in := ""
	for line := range strings.Lines(string(f.muster(0, append(above, "--help")...))) {
		if title := regexp.MustCompile(`^([A-Z][a-z]+):$`).FindStringSubmatch(strings.TrimSpace(line)); title != nil {
			in = title[1]
		}
		if name := regexp.MustCompile(`^  ([a-z]+)  `).FindStringSubmatch(line); name != nil {
			switch in {
			case group:
				commands = append(commands, name[1])
			case "Others":
				others = append(others, name[1])
			}
		}
	}
	return commands, others
}

func checkManual(t *testing.T, f folder, m manual) {
	t.Helper()
	text, pages := "", strings.Join(m.pages, ", ")
	for _, page := range m.pages {
		read, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text += string(read)
	}
	begin := strings.Join(append([]string{"muster"}, m.above...), " ") + " "
	commands := m.commands(f)
	if len(commands) == 0 {
		t.Errorf("the help lists no commands under %s", m.group)
	}
	for _, c := range commands {
		if !regexp.MustCompile(begin + c + `\b`).MatchString(text) {
			t.Errorf("%s: %s%s is missing", pages, begin, c)
		}
	}
	if len(m.tables) == 0 {
		return
	}
	defaults, used := tabled(text), map[string]bool{}
	for _, command := range m.tables {
		for flag, told := range flagsOf(string(f.muster(0, append(slices.Clone(m.above), command, "--help")...))) {
			used[flag] = true
			if is, ok := defaults[flag]; ok && !slices.Contains(m.machine, flag) && told != "" && is != told {
				t.Errorf("%s: %s of %s: the default is %s, the program's %s", pages, flag, command, is, told)
			}
		}
	}
	for flag := range defaults {
		if !used[flag] {
			t.Errorf("%s: the table has %s, which the program has not", pages, flag)
		}
	}
}

// tabled returns the flags of the manual's table with their defaults.
func tabled(manual string) map[string]string {
	flags := map[string]string{}
	for line := range strings.Lines(manual) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `--") || len(cells) < 3 {
			continue
		}
		for _, flag := range regexp.MustCompile("`(--[a-z-]+)").FindAllStringSubmatch(cells[0], -1) {
			flags[flag[1]] = strings.Trim(cells[1], "`")
		}
	}
	return flags
}

// flagsOf returns the flags in a help text with their defaults.
func flagsOf(help string) map[string]string {
	flags := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-[a-z], )?(--[a-z-]+)(?:.*\(default [\["]?([^")\]]*)[\]"]?\))?`).FindAllStringSubmatch(help, -1) {
		flags[m[1]] = m[2]
	}
	return flags
}

// example is one command of a console block, with its expected output.
type example struct{ command, want string }

func examples(page string) []example {
	var found []example
	inside := false
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.TrimSpace(line) == "```console"
		case !inside:
		case strings.HasPrefix(line, "$ "):
			found = append(found, example{command: strings.TrimSpace(line[2:])})
		case strings.HasPrefix(line, "> ") && len(found) > 0: // the command continues
			found[len(found)-1].command += "\n" + strings.TrimSuffix(line[2:], "\n")
		case len(found) > 0:
			found[len(found)-1].want += line
		}
	}
	return found
}

// check executes a command. A command that ends in & is a server: it runs beside the following
// ones, and its output until it listens is compared.
func (e example) check(t *testing.T, bin, dir string) {
	t.Helper()
	line, beside := strings.CutSuffix(e.command, " &")
	if beside {
		line = "exec " + line
	}
	c := exec.CommandContext(t.Context(), "sh", "-c", line)
	c.Dir = dir
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	got, err := []byte(nil), error(nil)
	if beside {
		got, err = listening(t, c)
	} else {
		got, err = c.Output()
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) && e.needsEngine() && bytes.Contains(ended.Stderr, []byte("not installed")) && os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skipf("%s", ended.Stderr)
	}
	if err != nil { // examples that exit with a status end in: echo "exit $?"
		t.Errorf("$ %s: %v", e.command, err)
	}
	if !e.pattern().Match(got) {
		t.Errorf("$ %s\nprinted:\n%s\nthe manual says:\n%s", e.command, got, e.want)
	}
}

// listening starts a server, which ends with the test, and returns its output.
func listening(t *testing.T, c *exec.Cmd) (said []byte, err error) {
	t.Helper()
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	stderr, err := c.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(stderr)
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended already
		_, _ = io.Copy(io.Discard, lines)
		_ = c.Wait()
	})
	for {
		line, err := lines.ReadBytes('\n')
		said = append(said, line...)
		if err != nil || bytes.HasPrefix(line, []byte("listening on ")) {
			return said, err
		}
	}
}

func (e example) pattern() *regexp.Regexp {
	quoted := regexp.QuoteMeta(e.want)
	quoted = regexp.MustCompile(`(?m)^\\.\\.\\.\n`).ReplaceAllString(quoted, `(?:.*\n)*?`)
	quoted = strings.ReplaceAll(quoted, `\.\.\.`, `.*?`)
	return regexp.MustCompile(`\A` + quoted + `\z`)
}
