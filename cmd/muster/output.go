package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-runewidth"

	"muster/internal/terminal"
)

// checkFiles refuses files that could not be written. flags name them in errors.
func checkFiles(byFlag map[string]string) error {
	for flag, name := range byFlag {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return usagef("%s: %s is a folder: name a file", flag, name)
		}
		if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
			return usagef("%s: there is no folder %s: make it, or name another", flag, filepath.Dir(name))
		}
	}
	return nil
}

// writePage writes a file whole. If the page cannot be made, it writes nothing.
func writePage(name string, html func(io.Writer) error) error {
	var page bytes.Buffer
	if err := html(&page); err != nil {
		return err
	}
	return os.WriteFile(name, page.Bytes(), 0o644)
}

// statusLine shows progress: as a line that is redrawn on a terminal, else as a line from time
// to time.
type statusLine struct {
	to       io.Writer
	terminal *os.File // nil if to is not a terminal
	quiet    bool
	last     time.Time
	drawn    bool
}

// seldom is the time between two lines if they cannot be redrawn.
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

// fitting returns the beginning of a line that fits a number of columns. It counts only
// characters that are wide in every locale as wide.
func fitting(line string, columns int) string {
	return (&runewidth.Condition{StrictEmojiNeutral: true}).Truncate(line, columns, "")
}

// end removes the line.
func (l *statusLine) end() {
	if l.drawn {
		fmt.Fprint(l.to, "\r\x1b[K")
		l.drawn = false
	}
}

// showOrEnd shows a line, or ends it if the line is empty.
func (l *statusLine) showOrEnd(line string) {
	if line == "" {
		l.end()
		return
	}
	l.show(line)
}
