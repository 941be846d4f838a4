package local

import (
	"context"
	"fmt"
	"muster/regress"
	"os"
	osexec "os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestHelperStopped: a case of a plain lane that stops its helper gets its verdict long
// before its time limit, which still holds.
func TestHelperStopped(t *testing.T) {
	r := newRig(t, usual(t), plainly, limits(time.Hour, time.Hour))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, script := range []string{"kill -STOP $PPID; exit 3", "kill -STOP $PPID; sleep 1; kill -STOP $PPID; exit 3"} {
		got := <-r.begin(ctx, "one.c", script)
		must(t, got.err)
		r.want(r.tell(got.result), "exit 3")
		got.result.Release()
		r.wantClean("next.c")
	}
	r = newRig(t, usual(t), plainly, impatient)
	r.want(r.run("one.c", "kill -STOP $PPID; exec sleep 86400"), "timed-out")
	r.want(r.run("next.c", "exit 3"), "exit 3")
}

// TestGivenUp: a lane that was given up comes back in another folder, because processes
// that are left may still write to the old one.
func TestGivenUp(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		if !unkillable(t) {
			return
		}
		r := newRig(t, usual(t), impatient, plainly)
		p, mark := newPipe(t), newMark()
		script := `sh -c 'read x < ` + p.path + `; echo junk > "$0"; : ` + mark + `' "$PWD/junk" & exit 0`
		if _, err := r.try("one.c", script); regress.ClassOf(err) != regress.Environment {
			t.Errorf("it gave %v", err)
		}
		r.wantClean("next.c")
		left := hold(t, marked(t, mark))
		if len(left) == 0 {
			t.Error("nothing is left: the test shows nothing")
		}
		_, err := p.f.WriteString("\n")
		must(t, err)
		for _, fd := range left {
			awaitEnd(t, fd)
		}
		r.wantClean("next.c")
	})
}

// asConfinedUser starts a process of an ordinary user for whom the kernel refuses
// namespaces.
func asConfinedUser(t *testing.T) func(*osexec.Cmd) {
	t.Helper()
	ordinary := withNothing
	if os.Geteuid() == 0 {
		ordinary = asOrdinaryUser(t)
	}
	return func(cmd *osexec.Cmd) {
		ordinary(cmd)
		cmd.Args = append([]string{cmd.Path, "tool", "refusing", fmt.Sprint(int(unix.EPERM)), "namespaces", cmd.Path}, cmd.Args[1:]...)
	}
}

// TestParentKilledHelperStopped: a helper that is stopped when muster is killed ends, and
// so does its case. The same holds for an ordinary user without namespaces.
func TestParentKilledHelperStopped(t *testing.T) {
	end := func(t *testing.T, plain string) {
		cmd, _, pids := doomed(t, newMark(), plain)
		fds := hold(t, pids)
		stop(t, pids[0]) // the helper
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		for _, fd := range fds {
			awaitEnd(t, fd)
		}
		crew, err := Start(t.Context(), options(usual(t))) // it removes the folders
		must(t, err)
		must(t, crew.Close())
	}
	t.Run("namespaces", func(t *testing.T) {
		needsNamespaces(t)
		end(t, "")
	})
	t.Run("plain", func(t *testing.T) { end(t, "plain") })
	t.Run("refused", func(t *testing.T) {
		if again(t, asConfinedUser(t)) {
			end(t, "plain")
		}
	})
}

// TestEverythingStopped: a case that stops its helper in a loop may survive the KILL of
// muster, and its helper with it. The next start ends both.
func TestEverythingStopped(t *testing.T) {
	if !inPrivate(t) {
		return
	}
	t.Setenv(doomedScript, "while kill -STOP $PPID; do :; done")
	cmd, base, pids := doomed(t, newMark(), "plain")
	fds := hold(t, pids)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	wantSwept(t, base)
	for _, fd := range fds {
		awaitEnd(t, fd)
	}
}
