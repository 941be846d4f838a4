package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A scene is a command on a disk, and what must be true after it.
type scene struct {
	name string
	base *disk          // before the command
	run  func() ended   // the command
	next func() []ended // commands after it, without a fault

	ended     // of the command without a fault
	calls     []call
	old, new  string // the golden before and after
	following []int  // exit statuses of the next commands
}

// A stage is where scenes are played: the folder of the disk, and a tool that is on another one.
type stage struct {
	*testing.T
	dir, tool string
}

func newStage(t *testing.T) *stage {
	s := &stage{T: t, dir: t.TempDir()}
	s.tool = filepath.Join(t.TempDir(), "tool")
	const text = `#!/bin/sh
if test "$1" = 2 && test -p "$0.waits"; then
	echo waiting >"$0.waits"
	sleep 60
fi
case $2 in
new) sed -e s/2/two/ -e s/line/row/ <$1 >$1.out ;;
*) cat <$1 >$1.out ;;
esac
`
	s.write(s.tool, text, 0o755)
	return s
}

func (s *stage) write(path, text string, mode os.FileMode) {
	s.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), mode)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// prepared returns a copy of a disk after commands without a fault, all of it flushed.
func (s *stage) prepared(from *disk, do func()) *disk {
	s.Helper()
	d := from.clone()
	m := mounted(s.T, s.dir, d)
	do()
	m.unmount()
	d.flushAll()
	return d
}

// in returns the path of a file of the disk.
func (s *stage) in(name string) string { return filepath.Join(s.dir, name) }

// check and record return the words of a command on the disk. variant is the tool's argument: old or new.
func (s *stage) check(variant string, args ...string) []string {
	return s.job("check", variant, append(args, "--cost-cases", "0", "--retries", "0")...)
}

func (s *stage) record(variant string, args ...string) []string {
	return s.job("record", variant, args...)
}

func (s *stage) job(command, variant string, args ...string) []string {
	words := append([]string{command, s.in("src"), "--state", s.in("state"), "--golden", s.in("g.golden")}, args...)
	return append(words, "--", s.tool, "{in}", variant)
}

// scenes returns all scenes. They have been played without a fault.
func (s *stage) scenes() []*scene {
	sources := s.prepared(newDisk(), func() {
		for i := range 3 {
			s.write(s.in(fmt.Sprintf("src/%d", i)), strings.Repeat(fmt.Sprintf("line %d\nand 2\n", i), 3), 0o644)
		}
	})
	recorded := s.prepared(sources, func() { s.must(0, s.record("old")...) })
	checked := s.prepared(recorded, func() { s.must(1, s.check("new")...) })
	halved := s.prepared(recorded, func() {
		for _, part := range []string{"1", "2"} {
			s.must(1, s.check("new", "--state", s.in("part"+part), "--partition", "hash:"+part+"/2")...)
		}
	})
	stopped := s.prepared(recorded, s.stopCheck)
	muster := func(args ...string) func() ended { return func() ended { return s.muster(args...) } }
	all := []*scene{
		{name: "record", base: recorded, run: muster(s.record("new")...)},
		{name: "check", base: recorded, run: muster(s.check("new")...)},
		{name: "accept", base: checked, run: muster("accept", "--all", "--state", s.in("state"))},
		{name: "reduce", base: checked, run: muster("reduce", "G1", "--tests-max", "10", "--state", s.in("state"))},
		{name: "resume", base: stopped, run: muster(s.check("new", "--resume")...)},
		{name: "merge", base: halved, run: muster("merge", s.in("part1"), s.in("part2"), "--state", s.in("state"))},
	}
	accept := muster("accept", "--all", "--state", s.in("state"))
	all = slices.DeleteFunc(all, func(c *scene) bool { return *only != "" && c.name != *only })
	for _, c := range all {
		// After any command, the same one and an accept make the new golden.
		c.next = func() []ended { return []ended{c.run(), accept()} }
		if c.name == "resume" {
			c.next = func() []ended { return []ended{s.muster(s.check("new")...), accept()} }
		}
		s.rehearse(c)
	}
	return all
}

// rehearse plays a scene without a fault.
func (s *stage) rehearse(c *scene) {
	s.Helper()
	m := mounted(s.T, s.dir, c.base.clone())
	defer m.unmount()
	c.old = s.golden()
	m.begin(fault{})
	c.ended = c.run()
	_, c.calls = m.begin(fault{})
	c.new = s.golden()
	for _, e := range c.next() {
		c.following = append(c.following, e.status)
	}
	if c.status > 1 {
		s.Fatalf("%s: %v", c.name, c.ended)
	}
}

// stopCheck interrupts a check while its tool waits at the last case.
func (s *stage) stopCheck() {
	s.Helper()
	waits := s.tool + ".waits"
	if err := syscall.Mkfifo(waits, 0o600); err != nil {
		s.Fatal(err)
	}
	defer os.Remove(waits)
	c := s.command(s.Context(), s.check("new", "--jobs", "1")...)
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	// os.O_RDWR: open does not wait for the tool, and the read has a limit of time
	said, err := os.OpenFile(waits, os.O_RDWR, 0)
	if err == nil {
		err = said.SetReadDeadline(time.Now().Add(patience))
	}
	if err == nil {
		_, err = said.Read(make([]byte, 1))
	}
	if err != nil {
		s.Fatalf("the tool does not wait: %v", err)
	}
	defer said.Close()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		s.Error(err)
	}
	if _ = c.Wait(); c.ProcessState.ExitCode() != 130 {
		s.Fatalf("an interrupted check ended with %v", c.ProcessState)
	}
}

var accepted = regexp.MustCompile(`(?m)^# accepted\t.*\n`)

// golden returns the whole content of the golden as text without the times of accepts. The golden is
// checked to its last byte.
func (s *stage) golden() string {
	s.Helper()
	s.must(0, "golden", "check", s.in("g.golden"))
	return accepted.ReplaceAllString(s.must(0, "golden", "textconv", s.in("g.golden")), "")
}
