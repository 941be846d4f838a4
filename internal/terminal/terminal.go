// Package terminal tells what stands at the other end of a file: whether
// people look at it, how large it is and whether it wants colour.
//
// It must not write anything: what is drawn is the business of whoever asks.
package terminal

import (
	"os"

	"golang.org/x/term"
)

// WidthUnknown is taken where the terminal does not say how wide it is.
const WidthUnknown = 80

// Is reports whether f is a terminal.
func Is(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Width returns the columns of the terminal f as they are now: its window may
// have changed since the last call.
func Width(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return WidthUnknown
	}
	return width
}

// HeightUnknown is taken where the terminal does not say how high it is.
const HeightUnknown = 24

// Height returns the rows of the terminal f as they are now.
func Height(f *os.File) int {
	_, height, err := term.GetSize(int(f.Fd()))
	if err != nil || height <= 0 {
		return HeightUnknown
	}
	return height
}

// Colour reports whether to colour what is written to f. A NO_COLOR that is not empty
// (no-color.org) forbids it. A CLICOLOR_FORCE that is neither empty nor 0
// (bixense.com/clicolors) wants it everywhere. Else terminals have it, unless TERM=dumb.
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

// Moves reports whether the cursor of f can be moved, so that a line can be
// drawn again in its place.
func Moves(f *os.File, getenv func(string) string) bool {
	return Is(f) && getenv("TERM") != "dumb"
}

// Same reports whether a and b are one terminal, so that what is written to
// one disturbs what is drawn on the other.
func Same(a, b *os.File) bool {
	if !Is(a) || !Is(b) {
		return false
	}
	infoA, errA := a.Stat()
	infoB, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
