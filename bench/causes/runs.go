package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// notIdentical is muster's exit status when something differs.
const notIdentical = 1

// A place is a folder with an archive and a golden of it.
type place struct {
	*bench
	dir, archive, golden string
	flags                []string // of record and check alike
}

// record runs the old version of a tool.
func (p *place) record(ctx context.Context, command []string) error {
	args := append([]string{"record", p.archive, "--golden", p.golden, "--state", filepath.Join(p.dir, "recorded"), "--repeat", "1", "--jobs", strconv.Itoa(p.jobs), "-q"}, p.flags...)
	_, err := p.run(ctx, io.Discard, append(append(args, "--"), command...)...)
	return err
}

// A compared is the result of two versions.
type compared struct {
	cases, differing int
	found            found
	families         int
	wall, cpu        time.Duration // of muster diff, see check
	peak             int64         // bytes, of the same
	old, now         string        // goldens
}

// check runs the new version against the golden, which stays as it is. A golden of the
// new version comes with it, and both are compared once more by muster diff: this takes
// what reading and comparing the contents and finding causes take, and no tool runs.
func (p *place) check(ctx context.Context, name string, command []string, rounds int) (c compared, err error) {
	c.old, c.now = p.golden, filepath.Join(p.dir, name+".golden")
	state := filepath.Join(p.dir, name)
	if err := copyFile(c.now, c.old); err != nil {
		return c, err
	}
	args := append([]string{"check", p.archive, "--golden", c.now, "--state", state, "--retries", "0", "--jobs", strconv.Itoa(p.jobs), "-q"}, p.flags...)
	if _, err := p.run(ctx, io.Discard, append(append(args, "--"), command...)...); err != nil {
		return c, err
	}
	if c.found, err = readFound(state); err != nil {
		return c, err
	}
	if len(c.found.members) > 0 {
		if _, err := p.run(ctx, io.Discard, "accept", "--all", "--failing", "--state", state); err != nil {
			return c, err
		}
	}
	for range rounds {
		if err := c.again(ctx, p); err != nil {
			return c, err
		}
	}
	return c, nil
}

// again compares the goldens, and keeps the better time and the higher peak.
func (c *compared) again(ctx context.Context, p *place) error {
	var out bytes.Buffer
	u, err := p.run(ctx, &out, "diff", c.old, c.now, "--format", "json", "-q", "--state", filepath.Join(p.dir, "diffed"))
	if err != nil {
		return err
	}
	if c.wall == 0 || u.wall < c.wall {
		c.wall, c.cpu = u.wall, u.cpu
	}
	c.peak = max(c.peak, u.peak)
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	var sum struct{ Cases, Identical, Flaky, New, Missing, Groups int }
	if err := json.Unmarshal(lines[len(lines)-1], &sum); err != nil {
		return fmt.Errorf("the summary of muster diff: %w", err)
	}
	c.cases, c.differing = sum.Cases, sum.Cases-sum.Identical-sum.Flaky-sum.New-sum.Missing
	// One way to the same thing: what check and diff say must agree.
	if c.differing != len(c.found.members) || sum.Groups != len(c.found.causes) {
		return fmt.Errorf("muster diff has %d cases and %d causes, muster check %d and %d", c.differing, sum.Groups, len(c.found.members), len(c.found.causes))
	}
	c.families = c.found.families()
	return nil
}

// A usage is what a process took.
type usage struct {
	wall, cpu time.Duration
	peak      int64 // bytes of resident memory; 0 = unknown
}

// run runs muster; that something is not identical is no error.
func (b *bench) run(ctx context.Context, out io.Writer, args ...string) (u usage, err error) {
	cmd := exec.CommandContext(ctx, b.muster, args...)
	var complaint bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, out, &complaint
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return u, err
	}
	ended, peak := make(chan struct{}), make(chan int64)
	go func() { peak <- watch(cmd.Process.Pid, ended) }()
	err = cmd.Wait()
	u.wall, u.cpu = time.Since(began), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	close(ended)
	u.peak = <-peak
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == notIdentical {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("muster %s: %w\n%s", strings.Join(args, " "), err, complaint.Bytes())
	}
	return u, err
}

// watch returns the peak memory of a process until it ended. For a child that has ended, the kernel
// may report its parent's peak, so watch reads the process itself.
func watch(pid int, ended <-chan struct{}) (peak int64) {
	for {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // it may have ended
		for line := range strings.Lines(string(text)) {
			if figure, is := strings.CutPrefix(line, "VmHWM:"); is {
				kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(figure), " kB"), 10, 64)
				peak = max(peak, kib*1024)
			}
		}
		select {
		case <-ended:
			return peak
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
