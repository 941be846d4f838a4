package lane

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helperProcess is this test program, started as a lane helper.
type helperProcess struct {
	*testing.T
	cmd     *exec.Cmd
	jobs    *os.File
	answers *os.File
	stderr  bytes.Buffer
	frames  Frames
}

func startHelper(t *testing.T, args ...string) *helperProcess {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	must(t, err)
	must(t, syscall.SetNonblock(fds[0], true))
	p := &helperProcess{T: t, jobs: os.NewFile(uintptr(fds[0]), "jobs")}
	jobs := os.NewFile(uintptr(fds[1]), "jobs")
	defer jobs.Close()
	var answers *os.File
	p.answers, answers, err = os.Pipe()
	must(t, err)
	t.Cleanup(func() { p.answers.Close() })
	defer answers.Close()
	corpus, err := os.Open(os.DevNull)
	must(t, err)
	defer corpus.Close()
	program, err := os.Executable()
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	p.cmd = exec.CommandContext(ctx, program, append(args, Argument)...)
	p.cmd.Stderr = &p.stderr
	p.cmd.ExtraFiles = []*os.File{jobs, corpus, answers}
	must(t, p.cmd.Start())
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *helperProcess) send(b []byte) {
	p.Helper()
	_, err := p.jobs.Write(b)
	must(p.T, err)
}

func (p *helperProcess) receive(m message) {
	p.Helper()
	b, err := p.frames.Next(p.answers.Read)
	must(p.T, err)
	must(p.T, m.Decode(b))
}

// end hangs up, and expects an exit status of the helper.
func (p *helperProcess) end(status int) {
	p.Helper()
	p.jobs.Close()
	_ = p.cmd.Wait() // the status is looked at
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.Errorf("it ended with %d, want %d: %s", got, status, &p.stderr)
	}
}

// plainSetup returns the setup of a lane below a folder of the test.
func plainSetup(t *testing.T) *Setup {
	t.Helper()
	dir := t.TempDir()
	s := &Setup{Root: filepath.Join(dir, "root"), Outbox: filepath.Join(dir, "out"), Timeout: time.Minute, Patience: time.Minute, OutputMax: 1 << 20, ProcessesMax: 100}
	must(t, os.Mkdir(s.Root, 0o755))
	must(t, os.Mkdir(s.Outbox, 0o755))
	return s
}

// TestTakeover checks that the argument makes the program a helper if it is the first one, and
// not otherwise.
func TestTakeover(t *testing.T) {
	p := startHelper(t)
	p.send(plainSetup(t).AppendFrame(nil))
	var ready Ready
	p.receive(&ready)
	if ready.Fault != "" || ready.Floor <= 0 || ready.HelperCPU <= 0 {
		t.Errorf("%+v", ready)
	}
	p.send((&Batch{[]Job{{Source: Item{Name: "empty"}, Path: "/bin/sh", Args: []string{"sh", "-c", "echo hello; exit 3"}}}}).AppendFrame(nil))
	var done Answer
	p.receive(&done)
	if done.Fault != "" || done.Kind != Exited || done.Code != 3 || string(done.Stdout.Content) != "hello\n" || !done.BatchEnds {
		t.Errorf("%+v", done)
	}
	p.end(0)

	other := startHelper(t, "-test.run=^$") // a test program that runs nothing
	_, err := io.ReadAll(other.answers)
	must(t, err)
	other.end(0)
	if strings.Contains(other.stderr.String(), "message") {
		t.Errorf("a second argument made the program a helper: %s", &other.stderr)
	}
}

// TestUnusable checks that a lane that cannot be made reports why.
func TestUnusable(t *testing.T) {
	for what, spoil := range map[string]func(*Setup){
		"no root":      func(s *Setup) { s.Root += "/none" },
		"no outbox":    func(s *Setup) { s.Outbox += "/none" },
		"a NUL byte":   func(s *Setup) { s.Env = []string{"A=\x00"} },
		"given twice":  func(s *Setup) { s.Given = []Item{{Name: "a"}, {Name: "a"}} },
		"cut":          func(s *Setup) { s.Given = []Item{{Name: "a", Size: 10}} },
		"nowhere":      func(s *Setup) { s.Given = []Item{{Name: "a", Path: "none"}} },
		"no namespace": func(s *Setup) { s.Canonical = s.Root + "/none" },
	} {
		s := plainSetup(t)
		spoil(s)
		p := startHelper(t)
		p.send(s.AppendFrame(nil))
		var ready Ready
		p.receive(&ready)
		if ready.Fault == "" {
			t.Errorf("%s: %+v", what, ready)
		}
		if changed := what == "cut" || what == "nowhere"; ready.CorpusChanged != changed {
			t.Errorf("%s: %+v", what, ready)
		}
		p.end(0)
	}
}
