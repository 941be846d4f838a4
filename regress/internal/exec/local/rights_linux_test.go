package local

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// withoutMounting runs the command as a root that may not mount: lanes then need
// a user namespace.
func withoutMounting(cmd *osexec.Cmd) {
	cmd.Args = append([]string{cmd.Path, "tool", "unable", cmd.Path}, cmd.Args[1:]...)
}

// inAllModes runs a test in every mode that this user can have.
func inAllModes(t *testing.T, test func(r *rig)) {
	t.Helper()
	if os.Getenv(againKey) == "" {
		inBothModes(t, usual, test)
	}
	if os.Geteuid() != 0 {
		return
	}
	t.Run("user namespace", func(t *testing.T) {
		if again(t, withoutMounting) {
			r := newRig(t, usual(t))
			if got := r.crew.mode.name; got != "user namespace" {
				r.Fatalf("lanes in mode %q", got)
			}
			test(r)
		}
	})
}

// TestWho: a case is the user who started muster, in every mode, and root's has
// neither the right to mount nor to make files that nobody can remove.
func TestWho(t *testing.T) {
	inAllModes(t, func(r *rig) {
		r.want(r.run("one.c", "id -u; id -g; stat -c %u:%g $1 . $HOME; echo n > n; stat -c %u n; rm n"), "exit 0",
			fmt.Sprintf(`stdout "%d\n%d\n%[1]d:%d\n%[1]d:%[2]d\n%[1]d:%[2]d\n%[1]d\n"`, os.Geteuid(), os.Getegid()))
		result, err := r.try("one.c", "exec "+self("capabilities"))
		must(r, err)
		defer result.Release()
		for _, have := range strings.Fields(string(r.content(result, result.Outcome.Parts[0]))) {
			for _, not := range []int{
				unix.CAP_SYS_ADMIN, unix.CAP_LINUX_IMMUTABLE, unix.CAP_SYS_PTRACE, unix.CAP_SYS_MODULE,
				unix.CAP_SYS_RAWIO, unix.CAP_SYS_BOOT, unix.CAP_SYS_TIME,
			} {
				if have == fmt.Sprint(not) && (os.Geteuid() == 0 || !r.crew.o.plain) {
					r.Errorf("a case may get capability %s", have)
				}
			}
		}
		if r.crew.mode.name != "plain" {
			r.want(r.run("one.c", "readlink /proc/$PPID/cwd || echo refused"), "exit 0", `stdout "refused\n"`)
		}
	})
}

// TestMountOver: a case cannot put something over its lane's folders.
func TestMountOver(t *testing.T) {
	inAllModes(t, func(r *rig) {
		for _, where := range []string{".", "$HOME", "$TMPDIR", "..", "inc"} {
			r.want(r.run("one.c", "mount -t tmpfs none "+where+" 2> /dev/null || mount --bind "+r.TempDir()+" "+where+" 2> /dev/null || echo refused"),
				"exit 0", `stdout "refused\n"`)
			r.wantClean("next.c")
		}
		r.want(r.run("one.c", self("flag", "16", "$1", ".", "$HOME", "HDR_a.h")+" 2> /dev/null || echo refused"), "exit 0", `stdout "refused\n"`)
		r.wantClean("next.c")
	})
}

// flag sets flags of files that keep them from being removed, or ends the test
// where that cannot be done.
func flag(t *testing.T, paths ...string) {
	t.Helper()
	for i, path := range paths {
		flags := []string{"16", "32"}[i%2] // immutable, append-only
		if err := flagTool([]string{flags, path}); err != nil {
			needed(t, err.Error())
		}
	}
}

// needsFlags ends a test in a folder whose files cannot get such flags: only root may set them.
func needsFlags(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flagged")
	must(t, os.WriteFile(path, nil, 0o600))
	flag(t, path)
	clearFlags(path)
}

// TestFlags: what the helper cannot remove at once it can after a look at the
// flags: the lane goes on with the same helper.
func TestFlags(t *testing.T) {
	needsFlags(t)
	inBothModes(t, usual, func(r *rig) {
		before := r.crew.started.Load()
		for _, names := range [][]string{
			{"work/x/y/n"}, {"work/n"}, {"work/x", "work/n"}, {"work"}, {"work/n", "work/x/y", "work/x"}, {"home/n", "home"}, {"tmp", "home"}, {""}, {"", "", "work"},
		} {
			p := newPipe(r.T)
			flagged := filepath.Join(r.TempDir(), "go")
			done := r.begin(r.Context(), "one.c", "echo n > n; mkdir -p x/y; echo n > x/y/n; echo n > $HOME/n; : > ../up; echo up > "+p.path+"; while [ ! -e "+flagged+" ]; do :; done")
			p.await(r.T)
			for _, n := range names {
				flag(r.T, filepath.Join(r.crew.base.dir, "000", n))
			}
			must(r, os.WriteFile(flagged, nil, 0o600))
			got := <-done
			must(r, got.err)
			r.want(r.tell(got.result), "exit 0", `n "n\n"`, `x/y/n "n\n"`)
			got.result.Release()
			r.wantClean("next.c")
		}
		if more := r.crew.started.Load() - before; more > 1 && !underRace { // one may have grown
			r.Errorf("%d helpers more", more)
		}
	})
}

// TestLargeFileFlagged: it is collected all the same.
func TestLargeFileFlagged(t *testing.T) {
	needsFlags(t)
	inBothModes(t, usual, func(r *rig) {
		p := newPipe(r.T)
		flagged := filepath.Join(r.TempDir(), "go")
		done := r.begin(r.Context(), "one.c", "head -c 100000 /dev/zero > n; echo up > "+p.path+"; while [ ! -e "+flagged+" ]; do :; done")
		p.await(r.T)
		flag(r.T, filepath.Join(r.crew.base.dir, "000/work/n"))
		must(r, os.WriteFile(flagged, nil, 0o600))
		got := <-done
		must(r, got.err)
		r.want(r.tell(got.result), "exit 0", "n "+zeros(100_000))
		got.result.Release()
		r.wantClean("next.c")
	})
}

// TestRootStuck: a lane whose folder cannot be removed gets another, as long as
// the first, and what is left goes with the run.
func TestRootStuck(t *testing.T) {
	if !alone(t) {
		return
	}
	r := newRig(t, usual(t), plainly)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	was := r.crew.lanes[0].root
	must(r, syscall.Mount("tmpfs", was+"/home", "tmpfs", 0, ""))
	unable(r.T, func() {
		for range 2 {
			must(r, syscall.Kill(r.helpers()[0], syscall.SIGKILL))
			r.wantClean("next.c")
			now := r.crew.lanes[0].root
			if now == was || len(now) != len(was) {
				r.Errorf("%s became %s", was, now)
			}
			r.want(r.run("one.c", "pwd"), "exit 0", `stdout "/tmp/muster/canonical/lane/work\n"`)
		}
	})
	must(r, syscall.Unmount(was+"/home", 0))
}

// TestRemoveBase: the marker goes last, so that what cannot be removed is known
// as a run's; whoever can removes the rest.
func TestRemoveBase(t *testing.T) {
	if !alone(t) {
		return
	}
	parent := t.TempDir()
	b, err := makeBase(parent)
	must(t, err)
	for _, dir := range []string{"000/work", "zzz"} { // before and after the marker by name
		must(t, os.MkdirAll(filepath.Join(b.dir, dir), 0o755))
	}
	stuck := filepath.Join(b.dir, "000/work")
	must(t, syscall.Mount("tmpfs", stuck, "tmpfs", 0, ""))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var warnings notes
	unable(t, func() {
		if err := b.remove(); err == nil {
			t.Error("a mount was removed")
		}
		sweep(parent, warnings.warn)
	})
	if said := strings.Join(warnings.said, "\n"); !strings.HasPrefix(said, "warning: left by a run that was killed: ") || !strings.Contains(said, stuck) {
		t.Errorf("the next run says %q", said)
	}
	if _, err := os.Lstat(filepath.Join(b.dir, markerName)); err != nil {
		t.Errorf("the marker went first: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(b.dir, "zzz")); err == nil {
		t.Error("one that is stuck kept another")
	}
	sweep(parent, warnings.warn)
	if _, err := os.Lstat(b.dir); err == nil || len(warnings.said) > 1 {
		t.Error("the rest was not swept:", warnings.said)
	}
}

// TestRemoveFlagged: flags do not keep the parent from removing a lane.
func TestRemoveFlagged(t *testing.T) {
	needsFlags(t)
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	must(t, os.MkdirAll(filepath.Join(tree, "a/b"), 0o755))
	for _, n := range []string{"f", "a/f", "a/b/f"} {
		must(t, os.WriteFile(filepath.Join(tree, n), nil, 0o644))
	}
	must(t, os.Chmod(filepath.Join(tree, "a/b"), 0))
	t.Cleanup(func() { clearFlags(filepath.Join(tree, "a")) })
	flag(t, filepath.Join(tree, "a/b/f"), filepath.Join(tree, "a/f"), filepath.Join(tree, "a/b"), filepath.Join(tree, "a"), tree)
	must(t, removeTree(tree))
}
