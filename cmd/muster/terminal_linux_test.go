package main_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// terminalCommands are the commands of scripts that sit before a terminal:
//
//	terminal NAME COLUMNSxROWS COMMAND ARG...   starts a command on one
//	shows NAME REGEXP                           waits until its screen matches; ! until it does not
//	types NAME KEYS...                          types keys, quoted as in Go
//	resizes NAME COLUMNSxROWS                   makes it larger or smaller
//	leaves NAME STATUS                          waits for its end, and that the terminal is as it was
//	kills NAME                                  ends it by KILL
func terminalCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"terminal": terminal, "shows": shows, "types": types, "resizes": resizes, "leaves": leaves, "kills": kills,
	}
}

// A sitting is a command on a terminal of its own.
type sitting struct {
	keyboard *os.File
	before   *unix.Termios
	cmd      *exec.Cmd
	ended    chan struct{}
	drained  chan struct{} // all output has been drawn

	mu     sync.Mutex
	screen *vt.Emulator
	drawn  chan struct{} // closed with the next change of the screen
	sent   []byte        // the whole output
}

type sittingsKey struct{}

func sittingOf(ts *testscript.TestScript, neg bool, args []string, count int) *sitting {
	if neg || len(args) < count {
		ts.Fatalf("see terminalCommands")
	}
	s := ts.Value(sittingsKey{}).(map[string]*sitting)[args[0]]
	if s == nil {
		ts.Fatalf("no terminal %s", args[0])
	}
	return s
}

func sizeOf(ts *testscript.TestScript, text string) (size unix.Winsize) {
	_, err := fmt.Sscanf(text, "%dx%d", &size.Col, &size.Row)
	ts.Check(err)
	return size
}

func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: terminal NAME COLUMNSxROWS COMMAND ARG...")
	}
	size := sizeOf(ts, args[1])
	keyboard, tty := openTerminal(ts)
	defer tty.Close()
	ts.Check(unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &size))
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	ts.Check(err)
	path := args[2]
	if !strings.Contains(path, "/") {
		path = strings.Split(ts.Getenv("PATH"), ":")[0] + "/" + path
	}
	path, err = exec.LookPath(path)
	ts.Check(err)
	s := &sitting{keyboard: keyboard, before: before, screen: vt.NewEmulator(int(size.Col), int(size.Row)), drawn: make(chan struct{}), ended: make(chan struct{}), drained: make(chan struct{})}
	s.cmd = exec.CommandContext(context.Background(), path, args[3:]...)
	s.cmd.Dir, s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = ts.MkAbs("."), tty, tty, tty
	s.cmd.Env = []string{"TERM=xterm-256color", "GORACE=atexit_sleep_ms=0"}
	for _, key := range []string{"PATH", "HOME", "TMPDIR", "NO_COLOR"} {
		s.cmd.Env = append(s.cmd.Env, key+"="+ts.Getenv(key))
	}
	for _, key := range []string{"VISUAL", "EDITOR", "PAGER", "LESS", "GOMAXPROCS"} {
		if value := ts.Getenv(key); value != "" {
			s.cmd.Env = append(s.cmd.Env, key+"="+value)
		}
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(s.cmd.Start())
	go s.read()
	go func() { _, _ = io.Copy(io.Discard, s.screen) }() // what a terminal answers to questions
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // ProcessState has its status
	}()
	ts.Defer(func() {
		_ = s.cmd.Process.Kill() // it may have ended already
		<-s.ended
		keyboard.Close()
		s.screen.Close()
	})
	ts.Value(sittingsKey{}).(map[string]*sitting)[args[0]] = s
}

// openTerminal returns both ends of a new pseudo-terminal.
func openTerminal(ts *testscript.TestScript) (keyboard, tty *os.File) {
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil && os.Getenv("MUSTER_REQUIRE") != "all" {
		testOf(ts).Skipf("no pseudo-terminal here: %v", err)
	}
	ts.Check(err)
	ts.Check(unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	ts.Check(err)
	tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	return keyboard, tty
}

// read draws what the command sends. The kernel looks for input before it looks whether the
// last user of the terminal is gone, so one error may come before the last output: the second
// one in a row is the end.
func (s *sitting) read() {
	defer close(s.drained)
	buffer := make([]byte, 64<<10)
	for failed := 0; failed < 2; {
		n, err := s.keyboard.Read(buffer)
		s.mu.Lock()
		_, _ = s.screen.Write(buffer[:n])
		s.sent = append(s.sent, buffer[:n]...)
		close(s.drawn)
		s.drawn = make(chan struct{})
		s.mu.Unlock()
		if err == nil {
			failed = 0
		} else {
			failed++ // EIO
		}
	}
}

// text returns the visible text.
func (s *sitting) text() string { return blanksAtEnd.ReplaceAllString(s.screen.String(), "") }

var blanksAtEnd = regexp.MustCompile(`(?m) +$`)

// ofCases are control characters that muster never sends: DEL, those of C0 and C1 that do not draw, and titles of windows.
var ofCases = regexp.MustCompile(`[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f-\x{9f}]|\x1b\][012];`)

// patience is how long a test waits for a screen: far longer than any machine needs.
const patience = 20 * time.Second

func shows(ts *testscript.TestScript, neg bool, args []string) {
	s := sittingOf(ts, false, args, 2)
	pattern := regexp.MustCompile("(?m)" + args[1])
	late := time.After(patience)
	for {
		s.mu.Lock()
		drawn, text := s.drawn, s.text()
		s.mu.Unlock()
		if pattern.MatchString(text) != neg {
			return
		}
		select {
		case <-drawn:
		case <-late:
			ts.Fatalf("%s never showed %s, but\n%s", args[0], args[1], text)
		}
	}
}

func types(ts *testscript.TestScript, neg bool, args []string) {
	s := sittingOf(ts, neg, args, 2)
	for _, keys := range args[1:] {
		text, err := strconv.Unquote(`"` + keys + `"`)
		ts.Check(err)
		_, err = s.keyboard.WriteString(text)
		ts.Check(err)
	}
}

func resizes(ts *testscript.TestScript, neg bool, args []string) {
	s := sittingOf(ts, neg, args, 2)
	size := sizeOf(ts, args[1])
	s.mu.Lock()
	s.screen.Resize(int(size.Col), int(size.Row))
	s.mu.Unlock()
	ts.Check(unix.IoctlSetWinsize(int(s.keyboard.Fd()), unix.TIOCSWINSZ, &size))
}

func leaves(ts *testscript.TestScript, neg bool, args []string) {
	s := sittingOf(ts, neg, args, 2)
	late := time.After(patience)
	for _, end := range []chan struct{}{s.ended, s.drained} {
		select {
		case <-end:
		case <-late:
			ts.Fatalf("%s did not end", args[0])
		}
	}
	if got := strconv.Itoa(s.cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("exit status %s, want %s:\n%s", got, args[1], s.text())
	}
	after, err := unix.IoctlGetTermios(int(s.keyboard.Fd()), unix.TCGETS)
	ts.Check(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if *after != *s.before || s.screen.IsAltScreen() || s.screen.CursorHidden() {
		ts.Fatalf("the terminal is not as it was: settings %v, alternate screen %v, cursor hidden %v, after output that ends with %q", *after == *s.before, s.screen.IsAltScreen(), s.screen.CursorHidden(), s.sent[max(0, len(s.sent)-1000):])
	}
	if raw := ofCases.Find(s.sent); raw != nil {
		ts.Fatalf("%q is sent to the terminal as it is", raw)
	}
}

func kills(ts *testscript.TestScript, neg bool, args []string) {
	s := sittingOf(ts, neg, args, 1)
	ts.Check(s.cmd.Process.Kill())
	<-s.ended
}
