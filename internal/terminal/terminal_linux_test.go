package terminal_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"muster/internal/terminal"
)

func TestATerminal(t *testing.T) {
	// The master end of a pseudo-terminal behaves like a terminal, so it suffices.
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	defer f.Close()
	if got := terminal.Width(f); got != terminal.WidthUnknown {
		t.Errorf("a terminal that does not know its size is %d columns wide", got)
	}
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 132, Row: 25}); err != nil {
		t.Fatal(err)
	}
	if got := terminal.Width(f); got != 132 {
		t.Errorf("%d columns, want 132", got)
	}
	if got := terminal.Height(f); got != 25 {
		t.Errorf("%d rows, want 25", got)
	}
	if !terminal.Is(f) || !terminal.Same(f, f) || terminal.Same(f, os.Stdin) && !terminal.Is(os.Stdin) {
		t.Error("a terminal is not known as one")
	}
	for _, c := range []struct {
		name, value   string
		colour, moves bool
	}{
		{"", "", true, true}, {"NO_COLOR", "1", false, true}, {"NO_COLOR", "", true, true},
		{"CLICOLOR_FORCE", "1", true, true}, {"CLICOLOR_FORCE", "0", true, true}, {"TERM", "dumb", false, false}, {"TERM", "xterm", true, true},
	} {
		getenv := func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		}
		if terminal.Colour(f, getenv) != c.colour || terminal.Moves(f, getenv) != c.moves {
			t.Errorf("%s=%s: colour %t, moves %t", c.name, c.value, terminal.Colour(f, getenv), terminal.Moves(f, getenv))
		}
	}
}
