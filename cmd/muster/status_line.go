package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-runewidth"

	"muster/internal/terminal"
)

// statusLine shows how far something is: a line that is drawn again on a terminal, else a
// line now and then.
type statusLine struct {
	to       io.Writer
	terminal *os.File // nil: to is none
	quiet    bool
	last     time.Time
	drawn    bool
}

// seldom is how often a line is printed where none can be drawn again.
const seldom = 10 * time.Second

func newStatusLine(to io.Writer, quiet bool) *statusLine {
	l := &statusLine{to: to, quiet: quiet, last: time.Now()}
	if f, ok := to.(*os.File); ok && terminal.Moves(f, os.Getenv) {
		l.terminal = f
	}
	return l
}

func (l *statusLine) show(line string) {
	now := time.Now()
	switch {
	case l.quiet || line == "":
	case l.terminal != nil:
		fmt.Fprintf(l.to, "\r\x1b[K%s", fitting(line, terminal.Width(l.terminal)-1))
		l.drawn = true
	case now.Sub(l.last) >= seldom:
		l.last = now
		fmt.Fprintln(l.to, line)
	}
}

// fitting is as much of a line as has so many columns. Only what is wide everywhere counts
// as wide: the locale decides nothing.
func fitting(line string, columns int) string {
	return (&runewidth.Condition{StrictEmojiNeutral: true}).Truncate(line, columns, "")
}

// end takes the line away.
func (l *statusLine) end() {
	if l.drawn {
		fmt.Fprint(l.to, "\r\x1b[K")
		l.drawn = false
	}
}

// showOrEnd is show, and end for an empty line.
func (l *statusLine) showOrEnd(line string) {
	if line == "" {
		l.end()
		return
	}
	l.show(line)
}
