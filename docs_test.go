package muster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestManual executes the console blocks of the manual in order, each page in a
// folder of its own, and compares what is printed. In the manual "..." stands
// for any text, on a line of its own for any lines.
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
			dir := t.TempDir()
			for _, e := range examples(string(text)) {
				e.check(t, bin, dir)
			}
		})
	}
}

// TestManualNamesAll finds commands and flags that the manual lacks, and defaults
// that it states otherwise than the program.
func TestManualNamesAll(t *testing.T) {
	text, err := os.ReadFile("docs/regress.md")
	if err != nil {
		t.Fatal(err)
	}
	manual, f := string(text), newFolder(t)
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+)  `).FindAllSubmatch(f.muster(0, "--help"), -1) {
		if !regexp.MustCompile(`muster ` + string(m[1]) + `\b`).MatchString(manual) {
			t.Errorf("the manual lacks muster %s", m[1])
		}
	}
	defaults := tabled(manual)
	for _, command := range []string{"record", "check"} {
		for flag, told := range flagsOf(string(f.muster(0, command, "--help"))) {
			switch is, ok := defaults[flag]; {
			case flag == "--help":
			case !ok:
				t.Errorf("the manual's table of flags lacks %s of %s", flag, command)
			case flag != "--jobs" && told != "" && is != told: // --jobs is the machine's
				t.Errorf("%s of %s: the manual's default is %s, the program's %s", flag, command, is, told)
			}
		}
	}
}

// tabled returns the flags of the manual's table and their defaults.
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

// flagsOf returns the flags that a help text lists, and the defaults that it tells.
func flagsOf(help string) map[string]string {
	flags := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-[a-z], )?(--[a-z-]+)(?:.*\(default "?([^")]*)"?\))?`).FindAllStringSubmatch(help, -1) {
		flags[m[1]] = m[2]
	}
	return flags
}

// example is one command of a console block and what it prints.
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
		case len(found) > 0:
			found[len(found)-1].want += line
		}
	}
	return found
}

func (e example) check(t *testing.T, bin, dir string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", e.command)
	c.Dir = dir
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	got, err := c.Output()
	if err != nil { // where it is meant, they end in: echo "exit $?"
		t.Errorf("$ %s: %v", e.command, err)
	}
	if !e.pattern().Match(got) {
		t.Errorf("$ %s\nprinted:\n%s\nthe manual says:\n%s", e.command, got, e.want)
	}
}

func (e example) pattern() *regexp.Regexp {
	quoted := regexp.QuoteMeta(e.want)
	quoted = regexp.MustCompile(`(?m)^\\.\\.\\.\n`).ReplaceAllString(quoted, `(?:.*\n)*?`)
	quoted = strings.ReplaceAll(quoted, `\.\.\.`, `.*?`)
	return regexp.MustCompile(`\A` + quoted + `\z`)
}
