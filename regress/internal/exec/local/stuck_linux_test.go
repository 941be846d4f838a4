package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/regress"
	"muster/regress/lane"
)

// unkillable runs the calling subtest where SIGKILL is sent and does nothing:
// what the kernel does with a frozen process, without a control group.
func unkillable(t *testing.T) bool {
	t.Helper()
	return refused(t, 0, "kill,pidfd_send_signal")
}

// impatient are limits under which nothing takes long but a process that waits for a CPU.
func impatient(o *Options) {
	const short = 100 * time.Millisecond
	o.Timeout, o.Grace = enoughToStart, short
	o.patience = patience{kill: short, look: short, answer: time.Minute, end: 10 * time.Second, killed: short}
}

// soon fails when what began then took longer than a few waits of impatient.
func soon(t *testing.T, began time.Time) {
	t.Helper()
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// TestCaseUnkillable: a case that SIGKILL does not end ends the run with an error
// that names its lane, or with that of the interrupt; nothing waits for it.
func TestCaseUnkillable(t *testing.T) {
	for _, mode := range []string{"namespaces", "plain"} {
		for _, what := range []string{"the command", "what it left", "interrupted"} {
			t.Run(mode+", "+what, func(t *testing.T) {
				if !unkillable(t) {
					return
				}
				r := newRig(t, usual(t), impatient, func(o *Options) { o.plain = mode == "plain" })
				p, mark := newPipe(t), newMark()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if what == "interrupted" {
					r.crew.o.Timeout = time.Hour
					r.crew.setup.Timeout = time.Hour
					r.crew.lanes[0].end() // the next one has that limit
				}
				// It ends when it can read what is written below.
				stay := fmt.Sprintf("sh -c 'read x < %s; : %s'", p.path, mark)
				script := map[string]string{"the command": "exec " + stay, "what it left": stay + " & exit 0"}[what]
				up := newPipe(t)
				if what == "interrupted" {
					script = "echo up > " + up.path + "; exec " + stay
				}
				began := time.Now()
				done := r.begin(ctx, "one.c", script)
				if what == "interrupted" {
					up.await(t)
					cancel()
				}
				got := <-done
				soon(t, began)
				text := fmt.Sprint(got.err)
				switch {
				case got.result != nil:
					t.Error("a case that did not end has a result")
				case what == "interrupted":
					if !errors.Is(got.err, context.Canceled) {
						t.Errorf("an interrupted run gave %v", got.err)
					}
				case regress.ClassOf(got.err) != regress.Environment || !strings.HasPrefix(text, "one.c: lane 0 is given up: "):
					t.Errorf("it gave %v; alive are %v", got.err, marked(t, mark))
				case mode == "plain": // in a namespace it has ended with the init
					if left := marked(t, mark); len(left) != 1 {
						t.Errorf("alive are %v, and it gave %v", left, got.err)
					}
				}
				r.wantClean("next.c")
				_, err := p.f.WriteString("\n")
				must(t, err)
			})
		}
	}
}

// muteTool is a helper that is ready, and then neither answers nor ends before
// something is written into a pipe.
func muteTool(args []string) error {
	pipe, err := os.OpenFile(args[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	ready := lane.Ready{Floor: 1}
	if _, err := unix.Write(lane.AnswersFD, ready.AppendFrame(nil)); err != nil {
		return err
	}
	if err := pipe.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	_, err = pipe.Read(make([]byte, 1))
	return err
}

// TestHelperUnkillable: a helper that neither answers nor ends is left behind,
// in a run, at an interrupt and at the end.
func TestHelperUnkillable(t *testing.T) {
	t.Run("mute", func(t *testing.T) {
		if !unkillable(t) {
			return
		}
		p, c := newPipe(t), usual(t)
		r := &rig{T: t, corpus: c, notes: &notes{}}
		o := options(c)
		impatient(&o)
		o.Timeout, o.patience.answer, o.patience.end = o.Grace, o.patience.kill, o.patience.kill
		o.Helper, o.plain, o.Lanes, o.Warn = append(o.Helper, "tool", "mute", p.path), true, 3, r.notes.warn
		var err error
		r.crew, err = Start(context.Background(), o)
		must(t, err)

		began := time.Now()
		_, err = r.try("one.c", "exit 0")
		if regress.ClassOf(err) != regress.Environment || !strings.Contains(fmt.Sprint(err), "lane 0 is given up") {
			t.Errorf("it gave %v", err)
		}
		soon(t, began)

		ctx, cancel := context.WithCancel(context.Background())
		r.crew.o.Timeout = time.Hour
		done := r.begin(ctx, "one.c", "exit 0")
		for deadline := time.Now().Add(time.Minute); ; {
			r.crew.mu.Lock()
			busy := len(r.crew.idle) < 3
			r.crew.mu.Unlock()
			if busy || time.Now().After(deadline) {
				break
			}
		}
		began = time.Now()
		cancel()
		if got := <-done; !errors.Is(got.err, context.Canceled) || !strings.Contains(r.notes.said[len(r.notes.said)-1], "is given up") {
			t.Errorf("an interrupted run gave %v and %q", got.err, r.notes.said)
		}
		err = r.crew.Close()
		if regress.ClassOf(err) != regress.Environment || !strings.Contains(fmt.Sprint(err), "is given up") {
			t.Errorf("the end gave %v", err)
		}
		soon(t, began)
		if _, err := os.Lstat(r.crew.base.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", r.crew.base.dir, err)
		}
		_, err = p.f.WriteString("\n\n\n\n\n\n")
		must(t, err)
	})
}
