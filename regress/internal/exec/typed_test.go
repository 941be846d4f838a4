package exec_test

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"testing"

	"muster/regress/internal/exec"
)

// TestScript runs scripts: they say what the commands say.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a 'b"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	const format = `<%s>`
	for _, c := range []struct {
		words        []string
		shell, stdin bool
		want         string // of the case "a 'b", which holds "text"
	}{
		{[]string{"printf", format, "{in}"}, false, false, "<a 'b>"},
		{[]string{"printf", format}, false, false, "<a 'b>"},
		{[]string{"printf", format, "$HOME x={name};{out} ", ""}, false, false, "<$HOME x=a 'b;a 'b.out ><>"},
		{[]string{"cat"}, false, true, "text"},
		{[]string{"cat", "-", "{in}"}, false, true, "texttext"},
		{[]string{"cat;", "echo", "end"}, true, true, "textend\n"},
		{[]string{"echo $((1 + 1)); cat"}, true, false, "2\ntext"},
	} {
		command, err := exec.Resolve(c.words, c.shell, c.stdin)
		if err != nil {
			t.Fatal(err)
		}
		script, err := exec.Resolve([]string{command.Script()}, true, false)
		if err != nil {
			t.Fatal(err)
		}
		args := script.Args("a 'b")
		run := osexec.CommandContext(t.Context(), args[0], args[1:]...)
		run.Dir = dir
		if got, err := run.CombinedOutput(); err != nil || string(got) != c.want {
			t.Errorf("%q as the script %q: %q, %v, want %q", c.words, command.Script(), got, err, c.want)
		}
	}
}

func TestTyped(t *testing.T) {
	words := []string{"cat", "{in}"}
	command, err := exec.Resolve(words, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := command.TypedWords(); !slices.Equal(got, words) {
		t.Errorf("as typed: %q", got)
	}
	for _, name := range []string{"./cat", "nothing of this name", "ls"} {
		moved, err := exec.ResolveAt(command.Path, []string{name, "{in}"}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := moved.TypedWords(), []string{command.Path, "{in}"}; !slices.Equal(got, want) {
			t.Errorf("%s, which is another here: %q, want %q", name, got, want)
		}
	}
}
