package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/exec"
)

// outcomeOf is what a run of a case gave.
type outcomeOf struct {
	result *exec.Result
	err    error
}

// begin runs a script in the background.
func (r *rig) begin(ctx context.Context, name, text string) <-chan outcomeOf {
	r.Helper()
	done, job := make(chan outcomeOf, 1), r.job(name, text)
	go func() {
		result, err := exec.Run(ctx, r.crew, job)
		done <- outcomeOf{result, err}
	}()
	return done
}

// blocked says on a pipe that it is there, does some things, and stays for ever, with a daemon.
func blocked(p *pipe, mark string, things ...string) string {
	return daemon(mark) + "echo up > " + p.path + "; " + strings.Join(append(things, "exec sleep 86400."+mark), "\n")
}

// TestHelperKilled: a case whose helper dies is run again, and nothing of the
// first attempt is left.
func TestHelperKilled(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		p, mark := newPipe(r.T), newMark()
		flag := filepath.Join(shared(r.T), "flag")
		done := r.begin(context.Background(), "one.c",
			"if [ -e "+flag+" ]; then cat $1; exit 5; fi; echo junk > junk; : > "+flag+"; "+blocked(p, mark))
		p.await(r.T)
		helpers := r.helpers()
		must(r, syscall.Kill(helpers[0], syscall.SIGKILL))
		got := <-done
		must(r, got.err)
		r.want(r.tell(got.result), "exit 5", `stdout "source one\n"`)
		got.result.Release()
		if left := marked(r.T, mark); len(left) > 0 {
			r.Errorf("alive after the helper was killed: %v", left)
		}
		r.wantClean("next.c")
	})
}

// TestHelperKilledByItsCase: without a PID namespace a case can reach its helper.
// That is no verdict but the machine's fault, told after a few attempts, and hurts
// no other case.
func TestHelperKilledByItsCase(t *testing.T) {
	r := newRig(t, usual(t), plainly)
	for _, how := range []string{"kill -9 $PPID", "kill $PPID", "kill -SEGV $PPID", "kill -HUP -$(ps -o pgid= $PPID | tr -d ' ')"} {
		mark := newMark()
		_, err := r.try("one.c", daemon(mark)+how+"; exec sleep 86400."+mark)
		if text := fmt.Sprint(err); regress.ClassOf(err) != regress.Environment || !strings.Contains(text, "one.c") {
			t.Errorf("%q gave %v", how, err)
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("after %q these are alive: %v", how, left)
		}
		r.wantClean("next.c")
	}
}

// TestCancel: when the context of a run ends, everything that its case started
// is gone when Run returns, and the lane is there for others.
func TestCancel(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		p, mark := newPipe(r.T), newMark()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done := r.begin(ctx, "one.c", blocked(p, mark))
		p.await(r.T)
		waiting := r.begin(ctx, "one.c", "exit 0") // for the lane
		cancel()
		for _, c := range []<-chan outcomeOf{done, waiting} {
			if got := <-c; !errors.Is(got.err, context.Canceled) || got.result != nil {
				r.Errorf("a cancelled run gave %v", got.err)
			}
		}
		if left := marked(r.T, mark); len(left) > 0 {
			r.Errorf("alive after it was cancelled: %v", left)
		}
		if _, err := exec.Run(ctx, r.crew, r.job("one.c", "exit 0")); !errors.Is(err, context.Canceled) {
			r.Errorf("a run whose context had ended gave %v", err)
		}
		r.wantClean("next.c")
	})
}

// wantNoLanes fails when a helper or a folder of this process's lanes is left.
func wantNoLanes(t *testing.T) {
	t.Helper()
	if left := helpersOf(t, os.Getpid()); len(left) > 0 {
		t.Errorf("helpers are left: %v", left)
	}
	for _, dir := range []string{memoryFolder, os.TempDir()} {
		left, err := filepath.Glob(filepath.Join(dir, basePrefix+"*", markerName))
		must(t, err)
		for _, file := range left {
			if f, err := takeMarker(filepath.Dir(file)); err == nil {
				f.Close()
				t.Errorf("%s is left, and nobody's", filepath.Dir(file))
			}
		}
	}
}

// TestCloseEarly: Close waits for a case that still runs. A case that waits for a lane, or
// comes later, gets an error.
func TestCloseEarly(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		up, goOn := newPipe(r.T), newPipe(r.T)
		running := r.begin(context.Background(), "one.c", "echo up > "+up.path+"; read x < "+goOn.path+"; exit 5")
		up.await(r.T)
		waiting := r.begin(context.Background(), "next.c", "exit 0")
		closed := make(chan error, 1)
		go func() { closed <- r.crew.Close() }()
		if got := <-waiting; !errors.Is(got.err, errClosed) {
			r.Errorf("a case that waited for a lane gave %v", got.err)
		}
		_, err := goOn.f.WriteString(strings.Repeat("\n", deathsMax)) // more than one only if the case ran again
		must(r, err)
		got := <-running
		must(r, got.err)
		r.want(r.tell(got.result), "exit 5")
		got.result.Release()
		must(r, <-closed)
		if _, err := r.try("next.c", "exit 0"); !errors.Is(err, errClosed) {
			r.Errorf("a case after Close gave %v", err)
		}
	})
}

// TestClose leaves no process, no folder, no descriptor and no goroutine.
func TestClose(t *testing.T) {
	c := usual(t)
	before := runtime.NumGoroutine()
	for _, plain := range []bool{false, true} {
		open := descriptors(t)
		o := options(c)
		o.Lanes, o.plain = 3, plain
		crew, err := Start(context.Background(), o)
		must(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		r := &rig{T: t, crew: crew, corpus: c}
		p, mark := newPipe(t), newMark()
		done := r.begin(ctx, "one.c", blocked(p, mark))
		result, err := r.try("next.c", "head -c 3000000 /dev/zero; (sleep 86400."+mark+" &)")
		must(t, err)
		p.await(t)
		cancel()
		<-done
		result.Release()
		base := crew.base.dir
		must(t, crew.Close())
		if _, err := os.Lstat(base); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", base, err)
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("alive after Close: %v", left)
		}
		p.f.Close()
		refused := !plain && !crew.mode.isolates() // package os leaks a pipe when such a process does not start
		if now := descriptors(t); now != open && !refused {
			t.Errorf("%d descriptors were open, now %d", open, now)
		}
	}
	wantNoLanes(t)
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			var stacks bytes.Buffer
			stacks.Grow(1 << 16)
			t.Fatalf("%d goroutines were there, now %d\n%s", before, runtime.NumGoroutine(), stacks.Bytes())
		}
	}
}

// descriptors counts this process's open files.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// inPrivate runs the calling test in a process whose memory folder is its own:
// in the common one others start crews too, and sweep. It reports whether we are
// in there.
func inPrivate(t *testing.T) bool {
	t.Helper()
	if !again(t, asRootOfItsOwn) {
		return false
	}
	mountOver(t, memoryFolder, "size=1g", 0)
	return true
}

// Set for a process that starts a crew and a case, and is killed.
const (
	doomedPipe  = "MUSTER_TEST_PIPE"
	doomedMark  = "MUSTER_TEST_MARK"
	doomedPlain = "MUSTER_TEST_PLAIN"

	doomedScript = "MUSTER_TEST_SCRIPT" // what its case does when it is up; empty: nothing
)

// doomed starts such a process, and returns its crew's folder and all that must
// not outlive it for long.
func doomed(t *testing.T, mark, plain string) (cmd *osexec.Cmd, base string, pids []int) {
	t.Helper()
	p := newPipe(t)
	t.Setenv("TMPDIR", t.TempDir()) // nobody else removes what it leaves there
	cmd = againCommand(t, "TestDoomed")
	cmd.Env = append(cmd.Env, doomedPipe+"="+p.path, doomedMark+"="+mark, doomedPlain+"="+plain)
	must(t, cmd.Start())
	base = p.await(t)
	p.await(t)
	pids = append(helpersOf(t, cmd.Process.Pid), marked(t, mark)...)
	if len(pids) < 3 { // the helper, the command and its daemon, which may have a child
		t.Fatalf("only %v are there", pids)
	}
	return cmd, base, pids
}

// TestDoomed is no test, but the process that others kill.
func TestDoomed(t *testing.T) {
	path := os.Getenv(doomedPipe)
	if path == "" {
		return
	}
	r := newRig(t, usual(t), func(o *Options) { o.plain = os.Getenv(doomedPlain) != "" })
	must(t, os.WriteFile(path, []byte(r.crew.base.dir+"\n"), 0))
	r.run("one.c", blocked(&pipe{path: path}, os.Getenv(doomedMark), os.Getenv(doomedScript)))
}

// TestEverythingKilled: when parent and helper die at once, without a PID
// namespace nobody is left to end the case. The next start does.
func TestEverythingKilled(t *testing.T) {
	if !inPrivate(t) {
		return
	}
	mark := newMark()
	cmd, base, pids := doomed(t, mark, "plain")
	stop(t, cmd.Process.Pid) // or it would notice that its helper is gone
	must(t, syscall.Kill(pids[0], syscall.SIGKILL))
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	left := marked(t, mark)
	if len(left) < 2 { // the command and its daemon
		t.Errorf("of %v only %v are left: the test shows nothing", pids, left)
	}
	fds := hold(t, left)
	wantSwept(t, base)
	for _, fd := range fds {
		awaitEnd(t, fd)
	}
}

// wantSwept starts and ends a crew, which removes what a killed one left.
func wantSwept(t *testing.T, base string) {
	t.Helper()
	if _, err := os.Lstat(base); err != nil {
		t.Errorf("the killed one left nothing to sweep: %v", err)
	}
	crew, err := Start(context.Background(), options(usual(t)))
	must(t, err)
	if _, err := os.Lstat(base); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s was not swept: %v", base, err)
	}
	must(t, crew.Close())
}

// TestOutboxes: that of a helper which is replaced is gone as soon as nobody needs what
// is in it.
func TestOutboxes(t *testing.T) {
	r := newRig(t, usual(t), plainly)
	boxes := func(want int) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(r.crew.base.dir, "*.out*"))
		if must(t, err); len(found) != want {
			t.Errorf("%q, want %d of them", found, want)
		}
	}
	big, err := r.try("one.c", "head -c 100000 /dev/zero")
	must(t, err)
	flag := filepath.Join(t.TempDir(), "flag")
	die := "[ -e %s ] && exit 0; : > %[1]s; kill -KILL $PPID; exec sleep 86400"
	for i := range 3 {
		r.want(r.run("next.c", fmt.Sprintf(die, fmt.Sprint(flag, i))), "exit 0")
	}
	boxes(2)
	r.want(r.tell(big), "exit 0", "stdout "+brief(make([]byte, 100000)))
	big.Release()
	boxes(1)
}

// TestAvoid: a lane is stayed away from while there is another.
func TestAvoid(t *testing.T) {
	r := newRig(t, usual(t), func(o *Options) { o.Lanes = 2 })
	for avoid := range 2 {
		job := r.job("one.c", "exit 0")
		job.Avoid = avoid
		for range 5 {
			result, err := exec.Run(context.Background(), r.crew, job)
			must(t, err)
			if result.Lane == avoid {
				t.Errorf("ran on lane %d", avoid)
			}
			result.Release()
		}
	}
	alone := newRig(t, usual(t))
	job := alone.job("one.c", "exit 0")
	job.Avoid = 0
	result, err := exec.Run(context.Background(), alone.crew, job)
	must(t, err)
	result.Release()
}

// TestManyLanes start and work, and take few threads of the parent: their
// sockets wait in the poller, and what takes a thread is done one at a time.
func TestManyLanes(t *testing.T) {
	const lanes = 128
	if !again(t, withNothing) { // the threads of other tests are still there
		return
	}
	runtime.GOMAXPROCS(2)
	// 8 are usual, 6 of them the runtime's own, and 10 promised; each thread that the
	// kernel stops in a system call, on a machine that others use, costs one more. With
	// a thread for each lane there would be all of these besides.
	inBothModes(t, usual, func(r *rig) {
		job, done := r.job("sub/two.c", "cat $1"), make(chan error, lanes)
		for range 4 * lanes {
			go func() {
				result, err := exec.Run(context.Background(), r.crew, job)
				if err == nil {
					result.Release()
				}
				done <- err
			}()
		}
		most := 0
		for range 4 * lanes {
			must(r, <-done)
			tasks, err := os.ReadDir("/proc/self/task")
			must(r, err)
			most = max(most, len(tasks))
		}
		if most > lanes {
			r.Errorf("%d threads for %d lanes", most, lanes)
		}
		if got := r.crew.started.Load(); got < lanes {
			r.Errorf("%d helpers", got)
		}
	}, func(o *Options) { o.Lanes = lanes; o.OutputMax = 1 << 20 })
}
