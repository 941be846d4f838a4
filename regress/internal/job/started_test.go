package job

import (
	"os"
	"path/filepath"
	"testing"

	"muster/regress"
	"muster/regress/internal/golden"
)

// A command of the same tool is started as the recorded one was, unless its line says
// otherwise.
func TestStartsAsRecorded(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", dir)
	tool := filepath.Join(dir, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(tool, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	words := func(w ...string) []string { return w }
	for _, c := range []struct {
		recorded     []string
		shell        bool
		given        []string
		stdin, again bool // what is kept of --stdin and --shell
	}{
		{words("tool"), false, words("tool", "-a"), true, false},
		{words("tool"), false, words("./tool"), true, false},
		{words("tool"), false, words(tool), true, false},
		{words("tool"), false, words("link"), false, false},
		{words("tool"), false, words("other"), false, false},
		{words("gone"), false, words("gone", "-a"), true, false},
		{words("tool"), false, words("tool", "{in}"), false, false},
		{words("tool"), false, words("tool", "-o{stem}.s"), false, false},
		{words("tool", "{in}"), false, words("tool", "{in}"), true, false},
		{words("tool < {in} | sort"), true, words("tool -a < {in} | sort"), false, true},
		{words("tool | sort"), true, words("tool -a | sort"), true, true},
		{words("tool | sort"), true, words("sort"), false, false},
		{words("tool | sort"), true, words("tool", "-a"), true, true},
		{words("tool | sort"), true, words("tool", "{out}"), false, true},
		{words("tool | sort"), true, words("tool", "two words"), false, false},
		{words("tool", "|", "sort"), true, words("tool", "-a", "|", "sort"), true, true},
		{words("tool | sort"), true, words(""), false, false},
	} {
		m := golden.Meta{Command: []golden.Command{{Glob: "*.x", Args: words("sort")}, {Args: c.recorded}}, Executable: tool, Flags: map[string]string{"--stdin": "true"}}
		if c.shell {
			m.Executable, m.Flags["--shell"] = "/bin/sh", "true"
		}
		o := sound()
		o.Command = regress.Command{Words: c.given}
		TakeRecorded(&o, m)
		if o.Command.Stdin != c.stdin || o.Command.Shell != c.again {
			t.Errorf("recorded %q, shell %t; given %q: stdin %t, shell %t", c.recorded, c.shell, c.given, o.Command.Stdin, o.Command.Shell)
		}
	}
	byGlob := regress.Command{Words: words("tool"), ByGlob: []regress.GlobCommand{{Glob: "*", Words: words("tool")}}}
	if startsAsRecorded(&byGlob, "--stdin", golden.Meta{Command: []golden.Command{{Args: words("tool")}}}) {
		t.Error("a command with others for globs is the recorded one")
	}
}
