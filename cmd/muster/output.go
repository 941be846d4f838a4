package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/mattn/go-runewidth"

	"muster/internal/realpath"
	"muster/internal/terminal"
	"muster/regress"
	"muster/regress/host"
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
		if _, err := realpath.Of(name); err != nil {
			return usagef("%s: %w", flag, err)
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

// report is a report in every form.
type report interface {
	Text(io.Writer) error
	JSON(io.Writer) error
	HTML(io.Writer) error
}

// showReport writes a report in every requested form, even if one of them fails.
func (p *program) showReport(html string, f regress.Format, r report) error {
	var page error
	if html != "" {
		page = writePage(html, r.HTML)
	}
	if f == regress.JSON {
		return errors.Join(page, r.JSON(p.stdout))
	}
	return errors.Join(page, r.Text(p.stdout))
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

// lessOptions are the default options of less: leave the text on the screen, quit at once if it
// fits, and pass colours on.
const lessOptions = "FRX"

// paged calls show, which writes text. On a terminal, text that is longer than the screen goes
// through the user's pager.
func (p *program) paged(ctx context.Context, o *regress.Options, show func(host.Host) error) error {
	h := newHost(p)
	out, isFile := h.Stdout.(*os.File)
	if !isFile || o.Report.Format == regress.JSON || !terminal.Moves(out, os.Getenv) || os.Getenv("TERM") == "" {
		return show(h)
	}
	words, err := pagerIn(os.LookupEnv)
	if err != nil {
		fmt.Fprintf(p.stderr, "warning: %v\n", err)
	}
	if len(words) == 0 {
		return show(h)
	}
	var text bytes.Buffer
	h.Stdout, o.Report.Colour = &text, settled(o.Report.Colour, out)
	if err := show(h); err != nil {
		_, failed := text.WriteTo(out)
		return errors.Join(err, failed)
	}
	if rowsOf(text.String(), terminal.Width(out)) < terminal.Height(out) { // a prompt follows
		_, err := text.WriteTo(out)
		return err
	}
	return p.page(ctx, words, text.Bytes(), out)
}

// settled decides whether text that goes to the terminal out through a pager has colours.
func settled(c regress.Colour, out *os.File) regress.Colour {
	switch {
	case c == regress.ColourAlways || c == regress.ColourNever:
		return c
	case terminal.Colour(out, os.Getenv):
		return regress.ColourAlways
	}
	return regress.ColourNever
}

// pagerIn returns the pager in an environment, with its arguments: PAGER, else less if it is
// installed. It returns none if PAGER is empty or cat.
func pagerIn(lookup func(string) (string, bool)) ([]string, error) {
	command, given := lookup("PAGER")
	if !given {
		if _, err := exec.LookPath("less"); err != nil {
			return nil, nil
		}
		return []string{"less", "-" + lessOptions}, nil
	}
	words, err := shellquote.Split(command)
	switch {
	case err != nil:
		return nil, fmt.Errorf("PAGER is %q, which is not quoted as a shell wants it: correct it, or set PAGER=cat", command)
	case slices.Equal(words, []string{"cat"}):
		return nil, nil
	}
	return words, nil
}

// pagerGrace is how long a pager may take to exit when muster is asked to end.
const pagerGrace = 2 * time.Second

// page shows a text in a pager and waits until the user leaves it. Ctrl-C belongs to the pager;
// other signals end it. The user may leave before the end of the text. If no pager can show the
// text, page prints it.
func (p *program) page(ctx context.Context, words []string, text []byte, out *os.File) error {
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), out, p.stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = pagerGrace
	if _, given := os.LookupEnv("LESS"); !given {
		c.Env = append(os.Environ(), "LESS="+lessOptions)
	}
	restore := terminal.Keep(out)
	err := c.Start()
	if err != nil && ctx.Err() == nil {
		_, err := out.Write(text)
		fmt.Fprintf(p.stderr, "warning: the pager %s cannot be started: correct PAGER, or set PAGER=cat\n", words[0])
		return err
	}
	if err == nil {
		signal.Ignore(os.Interrupt) // after the start: the pager must not inherit that
		err = c.Wait()
	}
	switch status, isStatus := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		restore()
		return ctx.Err()
	case isStatus:
		restore()                                                         // a killed pager did not restore the terminal
		if status.Sys().(syscall.WaitStatus).Signal() == syscall.SIGINT { // the user's Ctrl-C
			return nil
		}
		fmt.Fprintf(p.stderr, "warning: the pager %s ended with %s: PAGER=cat prints the whole text\n", words[0], status)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return fmt.Errorf("the pager %s: %w", words[0], err)
	}
	return nil
}

var colourCode = regexp.MustCompile("\x1b\\[[0-9;]*m")

// rowsOf returns the number of rows that a text takes on a terminal.
func rowsOf(text string, columns int) (rows int) {
	condition := &runewidth.Condition{StrictEmojiNeutral: true}
	for line := range strings.Lines(colourCode.ReplaceAllString(text, "")) {
		at := 0
		for _, r := range strings.TrimSuffix(line, "\n") {
			if r == '\t' {
				at += 8 - at%8
			} else {
				at += condition.RuneWidth(r)
			}
		}
		rows += max(1, (at+columns-1)/columns)
	}
	return rows
}
