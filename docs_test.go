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
