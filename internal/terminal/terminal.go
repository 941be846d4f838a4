// Package terminal inspects the other end of a file: whether it is a terminal, how large it
// is, and whether it wants colour.
//
// It must not write: drawing is the caller's business.
package terminal

import (
	"os"

	"golang.org/x/term"
)

// WidthUnknown is the assumed width of a terminal that does not report one.
const WidthUnknown = 80

// Is reports whether f is a terminal.
func Is(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Width returns the present number of columns of the terminal f. It may change between calls.
func Width(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return WidthUnknown
	}
	return width
}

// HeightUnknown is the assumed height of a terminal that does not report one.
const HeightUnknown = 24

// Height returns the present number of rows of the terminal f.
func Height(f *os.File) int {
	_, height, err := term.GetSize(int(f.Fd()))
	if err != nil || height <= 0 {
		return HeightUnknown
	}
	return height
}

// Colour reports whether to colour output to f. A non-empty NO_COLOR (no-color.org) forbids
// colour. Otherwise a CLICOLOR_FORCE that is neither empty nor 0 (bixense.com/clicolors)
// demands it everywhere. By default terminals get colour, except with TERM=dumb.
func Colour(f *os.File, getenv func(string) string) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return Is(f) && getenv("TERM") != "dumb"
}

// Moves reports whether the cursor of f can be moved, so that a line can be redrawn in place.
func Moves(f *os.File, getenv func(string) string) bool {
	return Is(f) && getenv("TERM") != "dumb"
}

// Same reports whether a and b are the same terminal, so that output to one disturbs a drawing
// on the other.
func Same(a, b *os.File) bool {
	if !Is(a) || !Is(b) {
		return false
	}
	infoA, errA := a.Stat()
	infoB, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

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
