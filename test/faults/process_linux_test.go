package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ended is a finished run of the program.
type ended struct {
	args           []string
	status         int
	stdout, stderr string
}

func (e ended) String() string {
	return fmt.Sprintf("muster %s: exit status %d\n%s%s", strings.Join(e.args, " "), e.status, e.stdout, e.stderr)
}

// says returns whether a text is in the output.
func (e ended) says(text string) bool { return strings.Contains(e.stdout+e.stderr, text) }

// patience is longer than any run without a defect.
const patience = time.Minute

func (s *stage) command(ctx context.Context, args ...string) *exec.Cmd {
	s.Helper()
	path, err := program()
	if err != nil {
		s.Fatal(err)
	}
	c := exec.CommandContext(ctx, path, args...)
	// Not in the folder of the disk: while this process starts another one, it cannot serve the disk.
	c.Dir = filepath.Dir(s.tool)
	c.Env = append(os.Environ(), "MUSTER_REPEAT_AFTER=0s")
	c.WaitDelay = 10 * time.Second
	return c
}

func (s *stage) muster(args ...string) ended {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	c := s.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.Errorf("%v: %v", args, err)
	}
	return ended{args, c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// must runs the program, which must end with a status, and returns its standard output.
func (s *stage) must(status int, args ...string) string {
	s.Helper()
	e := s.muster(args...)
	if e.status != status {
		s.Errorf("not %d: %v", status, e)
	}
	return e.stdout
}

// lastLine returns the last line of standard error.
func (e ended) lastLine() string {
	lines := strings.Split(strings.TrimSpace(e.stderr), "\n")
	return lines[len(lines)-1]
}
