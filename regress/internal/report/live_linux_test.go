package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/internal/terminal"
)

// openTerminal returns both ends of a new pseudo-terminal.
func openTerminal(t *testing.T, columns, rows uint16) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		t.Fatal(err)
	}
	return keyboard, tty
}

// A check on a real terminal device, seen from the other end.
func TestLiveOnATerminal(t *testing.T) {
	keyboard, tty := openTerminal(t, 60, 24)
	width := func() int { return terminal.Width(tty) }
	if !terminal.Is(tty) || width() != 60 {
		t.Fatalf("the terminal has %d columns", width())
	}
	shown := &screen{}
	drawn := make(chan struct{}) // closed once the line is on the screen
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 4096)
		for {
			n, err := keyboard.Read(buffer)
			// The terminal driver writes a newline as carriage return, newline.
			_, _ = io.WriteString(shown, strings.ReplaceAll(string(buffer[:n]), "\r\n", "\n"))
			if drawn != nil && strings.Contains(strings.Join(shown.drawn, "\n"), "check  0/15") {
				close(drawn)
				drawn = nil
			}
			if err != nil {
				return // EIO: the last user of the terminal is gone
			}
		}
	}()
	lineIsThere := drawn
	stream := Stream{Writer: tty, Terminal: true, Colour: true, Width: width}
	r := NewText(Console{Out: stream, Err: stream, Shared: terminal.Same(tty, tty)}, Normal)
	events := checkRun()
	handle(t, r, events[0])
	select {
	case <-lineIsThere:
	case <-time.After(30 * time.Second):
		t.Fatal("no line was drawn")
	}
	handle(t, r, events[1:]...)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	<-done
	if shown.err != nil {
		t.Error(shown.err)
	}
	if got := shown.String(); !strings.Contains(got, "\nchanged        a/b.go\n  stdout") ||
		!strings.HasSuffix(got, "exit status 1: something is not identical") || strings.Contains(got, "cores busy  ETA") {
		t.Errorf("the screen shows\n%s", got)
	}
}
