package local

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestSignals: a case that a signal stops is ended at its time limit, and one that a process of its stops is not.
func TestSignals(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU} {
			r.want(r.run("one.c", fmt.Sprintf("kill -%d $$", sig)), "timed-out")
		}
	}, limits(100*time.Millisecond, time.Millisecond))
	inBothModes(t, usual, func(r *rig) {
		r.want(r.run("one.c", "kill -STOP $$"), "timed-out")
		r.want(r.run("one.c", "sleep 86400 & kill -STOP $!"), "exit 0")
		r.wantClean("next.c")
	}, limits(enoughToStart, time.Millisecond))
}

// TestTraced: a case that lets its parent trace it goes on as if nobody traced it. So does a process that
// the case leaves running.
func TestTraced(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		tool := self("traced", "/bin/sh", "-c")
		r.want(r.run("one.c", "exec "+tool+" 'echo on; exit 3'"), "exit 3", `stdout "on\n"`)
		r.want(r.run("one.c", "exec "+tool+" 'kill -USR1 $$'"), "signal 10 (SIGUSR1)")
		// Its parent has mostly ended by then, so it asks the helper.
		r.want(r.run("one.c", "("+tool+" 'echo on >file' &) ; while [ ! -s file ]; do :; done"), "exit 0", `file "on\n"`)
	}, limits(enoughToStart, time.Millisecond))
}

// enoughToStart is a time limit for a case that must reach something before it, on a
// busy machine too.
const enoughToStart = 1500 * time.Millisecond

func limits(timeout, grace time.Duration) func(*Options) {
	return func(o *Options) { o.Timeout, o.Grace = timeout, grace }
}

// daemon starts a process that nobody would catch by its parent, its group, its
// session or TERM, and waits until it is there. Its mark tells it from others.
func daemon(mark string) string {
	return `(setsid sh -c 'trap "" TERM HUP INT QUIT; : > daemon; while :; do sleep 86400.` + mark + `; done' &) &
		while [ ! -e daemon ]; do :; done; `
}

func TestNothingIsLeftAlive(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		for i, d := range []struct{ script, want string }{
			{"sleep 86400.%s & exit 0", "exit 0"},
			{"%s exit 1", "exit 1"},
			{"%s kill -9 $$", "signal 9 (SIGKILL)"},
			{"%s while :; do :; done", "timed-out"},
			{"%s yes", "output-limit"},
		} {
			mark := newMark()
			text := daemon(mark)
			if i == 0 {
				text = mark
			}
			if got := r.run("one.c", fmt.Sprintf(d.script, text)); got[0] != d.want {
				r.Errorf("%q gave %q, want %q", d.script, got[0], d.want)
			}
			if left := marked(r.T, mark); len(left) > 0 {
				r.Errorf("after %q these are alive: %v", d.script, left)
			}
			r.wantClean("next.c")
		}
	}, func(o *Options) { o.Timeout, o.Grace, o.OutputMax = enoughToStart, time.Millisecond, 1<<20 })
}

// TestSignalsToEverybody: a case that ends whatever it can reach does not reach
// its helper. Only in a PID namespace may that be tried.
func TestSignalsToEverybody(t *testing.T) {
	r := newRig(t, usual(t))
	before := r.crew.started.Load()
	for _, text := range []string{
		"kill -9 -1", "kill -TERM -1", "kill -STOP 1", "kill -9 1", "kill -SEGV 1; kill -QUIT 1",
		"kill -9 $PPID", "kill -TERM 0 & wait", self("signals"),
	} {
		mark := newMark()
		result, err := r.try("one.c", "sleep 86400."+mark+" & "+text)
		must(t, err)
		result.Release()
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("after %q these are alive: %v", text, left)
		}
		r.wantClean("next.c")
	}
	if more := r.crew.started.Load() - before; more > 1 && !underRace { // one may have grown
		t.Errorf("%d helpers more", more)
	}
}
