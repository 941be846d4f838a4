package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"muster/internal/terminal"
	"muster/lab"
)

// labProgress shows how far a measurement is: a line that is drawn again on a terminal,
// else a line now and then. It is drawn between measurements only, so as not to disturb
// them.
type labProgress struct {
	to       io.Writer
	terminal *os.File // nil: to is none
	quiet    bool
	last     time.Time
	drawn    bool
}

// seldom is how often a line is printed where none can be drawn again.
const seldom = 10 * time.Second

func newLabProgress(to io.Writer, quiet bool) *labProgress {
	l := &labProgress{to: to, quiet: quiet, last: time.Now()}
	if f, ok := to.(*os.File); ok && terminal.Moves(f, os.Getenv) {
		l.terminal = f
	}
	return l
}

func (l *labProgress) show(p lab.Progress) {
	now := time.Now()
	switch {
	case l.quiet || p.Next == "":
	case l.terminal != nil:
		line := progressLine(p)
		line = line[:min(len(line), terminal.Width(l.terminal)-1)]
		fmt.Fprintf(l.to, "\r\x1b[K%s", line)
		l.drawn = true
	case now.Sub(l.last) >= seldom:
		l.last = now
		fmt.Fprintln(l.to, progressLine(p))
	}
}

// end takes the line away.
func (l *labProgress) end() {
	if l.drawn {
		fmt.Fprint(l.to, "\r\x1b[K")
	}
}

func progressLine(p lab.Progress) string {
	if p.Total == 0 {
		return p.Next
	}
	left := ""
	if p.Left >= 0 {
		left = fmt.Sprintf(", %v left", p.Left.Round(time.Second))
	}
	return fmt.Sprintf("%d of %d%s: %s", p.Done, p.Total, left, p.Next)
}
