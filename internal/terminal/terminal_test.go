package terminal_test

import (
	"os"
	"path/filepath"
	"testing"

	"muster/internal/terminal"
)

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	none := func(string) string { return "" }
	if terminal.Is(f) || terminal.Colour(f, none) || terminal.Moves(f, none) || terminal.Same(f, f) {
		t.Error("a file was taken for a terminal")
	}
	if got := terminal.Width(f); got != terminal.WidthUnknown {
		t.Errorf("a file is %d columns wide", got)
	}
	if got := terminal.Height(f); got != terminal.HeightUnknown {
		t.Errorf("a file is %d rows high", got)
	}
}
