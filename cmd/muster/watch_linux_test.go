package main_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// watching is a muster watch over the cases a and b, with the shell script tool in its folder.
type watching struct {
	*testing.T
	dir, program string
	ready        string // a named pipe, to which a case that hangs writes
	cmd          *exec.Cmd
	lines        *bufio.Scanner // of both outputs
	seen         bytes.Buffer
}

// The versions of the tool. The last one shows that a case of it runs, and then hangs.
const (
	copiesSource = "#!/bin/sh\ncat $1\n"
	changesB     = "#!/bin/sh\ncat $1\n[ $1 != b ] || echo more\n"
	hangs        = "#!/bin/sh\necho > \"$READY\"; sleep 100\n"
)

// newWatch records the first version of the tool, and starts to watch it. Its test runs beside others, as it
// mostly waits.
func newWatch(t *testing.T, flags ...string) *watching {
	t.Parallel()
	w := &watching{T: t, dir: sharedFolder(t), program: build(t) + "/muster"}
	w.ready = filepath.Join(w.dir, "ready")
	w.must(syscall.Mkfifo(w.ready, 0o666))
	w.must(os.Mkdir(w.dir+"/src", 0o755))
	for _, name := range []string{"a", "b"} {
		w.must(os.WriteFile(w.dir+"/src/"+name, []byte(name+"\n"), 0o644))
	}
	w.replaceTool(copiesSource)
	w.muster("record", "-q", "src", "--pass-env", "READY", "--", "./tool", "{in}")
	out, in, err := os.Pipe()
	w.must(err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // else a line that never comes would be waited for
	t.Cleanup(cancel)
	w.cmd = w.command(ctx, append([]string{"watch"}, flags...)...)
	w.cmd.Stdout, w.cmd.Stderr = in, in
	w.must(w.cmd.Start())
	w.must(in.Close())
	w.lines = bufio.NewScanner(out)
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill() // it may have ended
		_ = w.cmd.Wait()
		out.Close()
		if t.Failed() {
			t.Logf("the output:\n%s", w.seen.String())
		}
	})
	return w
}

func (w *watching) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// replaceTool renames another version over the tool.
func (w *watching) replaceTool(text string) {
	w.Helper()
	w.must(os.WriteFile(w.dir+"/new", []byte(text), 0o755))
	w.must(os.Rename(w.dir+"/new", w.dir+"/tool"))
}

// command returns a command of muster in the folder.
func (w *watching) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, w.program, args...)
	c.Dir, c.Env = w.dir, append(os.Environ(), "READY="+w.ready, "MUSTER_REPEAT_AFTER=0s")
	return c
}

// muster runs another command in the folder, and returns its output.
func (w *watching) muster(args ...string) string {
	w.Helper()
	out, err := w.command(w.Context(), args...).CombinedOutput()
	if err != nil {
		w.Fatalf("muster %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// until reads lines until one matches.
func (w *watching) until(pattern string) {
	w.Helper()
	for w.lines.Scan() {
		w.seen.WriteString(w.lines.Text() + "\n")
		if regexp.MustCompile(pattern).MatchString(w.lines.Text()) {
			return
		}
	}
	w.Fatalf("no line matches %q", pattern)
}

// untilCaseRuns waits for a case of the version that hangs.
func (w *watching) untilCaseRuns() {
	w.Helper()
	_, err := os.ReadFile(w.ready)
	w.must(err)
}

// interrupt ends the watch as Ctrl-C does. Nothing of it may be left.
func (w *watching) interrupt() {
	w.Helper()
	w.must(w.cmd.Process.Signal(syscall.SIGINT))
	w.until(`^muster: (reading src was stopped: )?interrupted`)
	_ = w.cmd.Wait() // the status says it
	if got := w.cmd.ProcessState.ExitCode(); got != 130 {
		w.Errorf("exit status %d, not 130", got)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	w.must(err)
	for _, p := range processes {
		if line, err := os.ReadFile(p); err == nil && (bytes.Contains(line, []byte(w.dir)) || bytes.HasPrefix(line, []byte(w.program))) {
			w.Errorf("%s is left: %q", p, line)
		}
	}
}

func TestWatch(t *testing.T) {
	t.Run("checks again", func(t *testing.T) { testWatch(newWatch(t)) })
	for _, observe := range []string{"none", "some"} {
		t.Run("cancels, observes "+observe, func(t *testing.T) {
			testWatchCancels(newWatch(t, "--observe", observe, "--quiet"))
		})
	}
	t.Run("interrupted", func(t *testing.T) { testWatchInterrupted(newWatch(t, "--observe", "none")) })
	t.Run("changes itself", func(t *testing.T) { testWatchChangesItself(newWatch(t, "--observe", "none")) })
	t.Run("failed first", func(t *testing.T) {
		testWatchFailedFirst(newWatch(t, "--observe", "none", "--jobs", "1", "--verbose", "--events", "events"))
	})
}

// Each way in which a compiler writes its result makes another check.
func testWatch(w *watching) {
	w.until(`^check: all 2 cases identical$`)
	w.until(`^note: watching \d+ paths of the tool, Ctrl-C ends$`)
	w.replaceTool(changesB)
	w.until(`^note: .*/tool changed, checking again$`)
	w.until(`^check: 1 of 2 cases not identical$`)
	w.until(`^run `)
	if got := w.muster("groups"); !strings.Contains(got, `+ "more"`) { // while it is watched
		w.Error(got)
	}
	w.until(`^note: watching `)
	w.must(os.WriteFile(w.dir+"/tool", []byte(copiesSource), 0o755)) // in place
	w.until(`^check: all 2 cases identical$`)
	w.until(`^note: watching `)
	w.must(os.Remove(w.dir + "/tool"))
	w.replaceTool(changesB)
	w.until(`^check: 1 of 2 cases not identical$`)
	// A version that cannot be started fails that check alone.
	w.until(`^note: watching `)
	w.replaceTool("#!/no/such/shell\n")
	w.until(`^ +2  environment$`)
	w.until(`^note: watching `)
	w.replaceTool(copiesSource)
	w.until(`^check: all 2 cases identical$`)
	w.interrupt()
}

// A change ends a check under way, which leaves no run and no result, also while its first cases
// are observed.
func testWatchCancels(w *watching) {
	w.until(`^check: all 2 cases identical$`)
	w.replaceTool(hangs)
	w.untilCaseRuns()
	w.replaceTool(changesB)
	w.until(`^check: 1 of 2 cases not identical$`)
	w.interrupt()
	if got := w.muster("runs"); strings.Count(got, "  check ") != 2 {
		w.Errorf("the runs are\n%s", got)
	}
	if strings.Contains(w.seen.String(), "not run") {
		w.Error("a cancelled check has a result")
	}
}

// Ctrl-C ends a check under way with its processes.
func testWatchInterrupted(w *watching) {
	w.until(`^note: watching `)
	w.replaceTool(hangs)
	w.untilCaseRuns()
	w.interrupt()
	if got := w.muster("runs"); !strings.Contains(got, "interrupted, 2 of 2 cases not run") {
		w.Errorf("the runs are\n%s", got)
	}
}

// The first cases of a check are those that were not identical in the last one, even after a
// check that a change has ended.
func testWatchFailedFirst(w *watching) {
	w.until(`^note: watching `)
	w.replaceTool(changesB)
	w.until(`^check: 1 of 2 cases not identical$`)
	w.until(`^note: watching `)
	w.replaceTool(hangs)
	w.untilCaseRuns()
	w.replaceTool(copiesSource)
	w.until(`^check: all 2 cases identical$`)
	w.interrupt()
	events, err := os.ReadFile(w.dir + "/events")
	w.must(err)
	if _, first, _ := strings.Cut(string(events), `"type":"case_started","name":`); !strings.HasPrefix(first, `"b"`) {
		w.Errorf("b does not run first:\n%s", events)
	}
}

// A tool that changes its own file makes each check obsolete. A warning names the way out.
func testWatchChangesItself(w *watching) {
	w.until(`^note: watching `)
	w.replaceTool("#!/bin/sh\necho '#' >> " + w.dir + "/tool\ncat $1\nsleep 100\n")
	w.until(`^warning: the tool changed during each of the last 5 checks: if the tool itself changes .*/tool, leave that file out with --no-tool-file$`)
	w.interrupt()
}
