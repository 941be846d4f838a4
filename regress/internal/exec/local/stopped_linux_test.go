package local

import (
	"context"
	"fmt"
	"muster/regress"
	"os"
	osexec "os/exec"
	"strings"
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

// TestHelperStoppedAgainAndAgain: a case that stops its helper in a loop fails with an
// error that says so. The cases beside it in a batch do not.
func TestHelperStoppedAgainAndAgain(t *testing.T) {
	r := newRig(t, usual(t), plainly, impatient, func(o *Options) {
		const short = 20 * time.Millisecond
		o.Timeout, o.patience.look, o.patience.end = time.Minute, short, 4*short
	})
	mark := newMark()
	told, _ := r.batch(asTheyCome,
		[2]string{"next.c", "exit 3"},
		[2]string{"one.c", "while kill -STOP $PPID; do :; done; : " + mark},
		[2]string{"empty.c", "exit 4"})
	r.want(told[0], "exit 3")
	r.want(told[2], "exit 4")
	if want := fmt.Sprintf("one.c: lane 0 was stopped %d times while the case ran (SIGSTOP): ", wakesMax+1); len(told[1]) != 1 || !strings.HasPrefix(told[1][0], want) {
		t.Errorf("it gave %q, want %q", told[1], want)
	}
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("these are alive: %v", left)
	}
	r.wantClean("next.c")
}

// TestTreeEndsFirst: muster kills the processes below a helper without a PID namespace
// before it kills the helper. No variable marks the process here as a case's.
func TestTreeEndsFirst(t *testing.T) {
	p, mark := newPipe(t), newMark()
	o := options(usual(t))
	impatient(&o)
	o.patience.end = o.patience.kill
	o.Helper, o.plain = append(o.Helper, "tool", "mute", p.path, mark), true
	crew, err := Start(t.Context(), o)
	must(t, err)
	if len(marked(t, mark)) == 0 {
		t.Error("the helper has started nothing: the test shows nothing")
	}
	must(t, crew.Close())
	for _, pid := range marked(t, mark) {
		t.Errorf("%d is alive", pid)
		must(t, unix.Kill(pid, unix.SIGKILL))
	}
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

// TestEndsHelperStopped: at the end of a run a stopped helper is woken at once, and clears
// its tree itself.
func TestEndsHelperStopped(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		r.crew.o.patience.end = time.Hour
		p, mark := newPipe(r.T), newMark()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		done := r.begin(ctx, "one.c", blocked(p, mark))
		p.await(r.T)
		helper := r.helpers()[0]
		stop(r.T, helper)
		defer time.AfterFunc(time.Minute, func() {
			r.Error("the helper is still stopped")
			_ = unix.Kill(helper, unix.SIGCONT)
		}).Stop()
		cancel()
		<-done
		if left := marked(r.T, mark); len(left) > 0 {
			r.Errorf("alive are %v", left)
		}
		r.wantClean("next.c")
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
