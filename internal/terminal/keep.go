package terminal

import (
	"os"

	"golang.org/x/term"
)

// Keep returns a function that gives the terminal f the settings back that it has now. A
// program that is killed leaves a terminal in which nothing is echoed. The function does
// nothing if f is no terminal, or no longer one.
func Keep(f *os.File) (restore func()) {
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) }
}
