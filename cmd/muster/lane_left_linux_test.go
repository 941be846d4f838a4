package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNothingIsLeft runs muster as an ordinary user for whom the kernel refuses namespaces,
// with stopped helpers. However muster ends, no process of that user may be left.
func TestNothingIsLeft(t *testing.T) {
	if os.Geteuid() != 0 {
		needed(t, "only root can start programs as another user")
	}
	bin := build(t)
	for _, end := range []syscall.Signal{0, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		name := unix.SignalName(end)
		t.Run("end"+name, func(t *testing.T) { newStranger(t, bin).endsBy(end) })
	}
}

func needed(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// stranger is an ordinary user with a folder who runs nothing else.
type stranger struct {
	*testing.T
	id  int
	dir string
}

func newStranger(t *testing.T, bin string) *stranger {
	t.Helper()
	const first = 1 << 23 // above the users of other tests
	s := &stranger{T: t, id: first + os.Getpid()}
	var err error
	s.dir, err = os.MkdirTemp("", "stranger-") // a folder of t.TempDir belongs to its owner alone
	s.must(err)
	t.Cleanup(func() { s.must(os.RemoveAll(s.dir)) })
	t.Cleanup(s.removeLanes)
	s.must(os.Chown(s.dir, s.id, s.id))
	program, err := os.ReadFile(bin + "/muster")
	s.must(err)
	s.must(os.WriteFile(s.dir+"/muster", program, 0o755))
	s.must(os.Mkdir(s.dir+"/src", 0o755))
	for _, name := range []string{"a", "b"} {
		s.must(os.WriteFile(s.dir+"/src/"+name, nil, 0o644))
	}
	return s
}

func (s *stranger) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// endsBy runs two cases that each start a process without an environment, and ends muster by a
// signal. With signal 0 it lets muster finish.
func (s *stranger) endsBy(end syscall.Signal) {
	stay := "exit 0"
	if end != 0 {
		stay = "echo up >> up; exec sleep 86400"
	}
	cmd := s.record("env -i setsid sleep 86400 & cd " + s.dir + "; kill -STOP $PPID; " + stay)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	s.must(cmd.Start())
	if end != 0 {
		s.await("two cases", func() bool {
			up, _ := os.ReadFile(s.dir + "/up")
			return string(up) == "up\nup\n"
		})
		s.must(cmd.Process.Signal(syscall.SIGSTOP)) // else it would continue its helpers
		s.stopHelpers(cmd.Process.Pid)
		s.must(cmd.Process.Signal(end))
		s.must(cmd.Process.Signal(syscall.SIGCONT))
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if end == 0 && err != nil || end != 0 && !errors.As(err, &exit) {
		s.Errorf("it ended with %v: %s", err, &said)
	}
	if !strings.Contains(said.String(), "lanes without namespaces") {
		s.Errorf("the test shows nothing: %s", &said)
	}
	s.await("the end of all", func() bool { return len(s.processes()) == 0 })
}

// record returns a command that runs muster as this user. script is a shell script that runs
// for each case.
func (s *stranger) record(script string) *exec.Cmd {
	const begin = `echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --reuid "$0" --regid "$0" --clear-groups "$@"`
	cmd := exec.CommandContext(s.Context(), "/bin/sh", "-c", begin, strconv.Itoa(s.id),
		s.dir+"/muster", "record", "src", "--jobs", "2", "--repeat", "1", "--", "sh", "-c", script)
	cmd.Dir = s.dir
	all := []syscall.SysProcIDMap{{Size: 1 << 24}}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true,
	}
	return cmd
}

// stopHelpers stops the children of muster.
func (s *stranger) stopHelpers(muster int) {
	s.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", muster))
	s.must(err)
	stopped := 0
	for _, list := range lists {
		text, err := os.ReadFile(list)
		s.must(err)
		for field := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(field)
			s.must(err)
			s.must(syscall.Kill(pid, syscall.SIGSTOP))
			s.await("a stopped helper", func() bool {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
				return err == nil && strings.Contains(string(stat), ") T ")
			})
			stopped++
		}
	}
	if stopped != 2 {
		s.Errorf("%d helpers were stopped: the test shows nothing", stopped)
	}
}

// processes lists the living processes of this user, by their lines in /proc/PID/stat.
func (s *stranger) processes() (found []string) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	s.must(err)
	for _, dir := range dirs {
		var st syscall.Stat_t
		if syscall.Stat(dir+"/task", &st) == nil && int(st.Uid) == s.id {
			if stat, err := os.ReadFile(dir + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
				found = append(found, string(stat))
			}
		}
	}
	return found
}

// removeLanes removes the folders of lanes that a killed muster left. Usually the next muster
// does that, but this user starts no other.
func (s *stranger) removeLanes() {
	for _, parent := range []string{"/dev/shm", os.TempDir()} {
		dirs, err := filepath.Glob(parent + "/.mlanes-*")
		s.must(err)
		for _, dir := range dirs {
			var st syscall.Stat_t
			if syscall.Lstat(dir, &st) == nil && int(st.Uid) == s.id {
				s.must(os.RemoveAll(dir))
			}
		}
	}
}

// await returns when a condition holds. After a minute it fails, and kills the processes that
// are left.
func (s *stranger) await(what string, so func() bool) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); runtime.Gosched() {
		if time.Now().Before(deadline) {
			continue
		}
		left := s.processes()
		for _, stat := range left {
			pid, _ := strconv.Atoi(stat[:strings.IndexByte(stat, ' ')])
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		s.Fatalf("no %s within a minute; alive are\n%s", what, strings.Join(left, ""))
	}
}
