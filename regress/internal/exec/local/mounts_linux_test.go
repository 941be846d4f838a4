package local

import (
	"muster/regress"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// canary is a folder that somebody mounts where lanes are emptied: with files of
// the names that are removed there.
func canary(t *testing.T) (dir string, intact func()) {
	t.Helper()
	dir = t.TempDir()
	names := []string{"one.c", "HDR_a.h", "n", "sub/one.c", "work/n"}
	for _, n := range names {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o500))
		must(t, os.WriteFile(filepath.Join(dir, n), []byte("mine"), 0o400))
	}
	return dir, func() {
		t.Helper()
		for _, n := range names {
			if b, err := os.ReadFile(filepath.Join(dir, n)); string(b) != "mine" {
				t.Errorf("%s behind a mount: %q, %v", n, b, err)
			}
		}
		if info, err := os.Lstat(filepath.Join(dir, "sub")); err != nil || info.Mode().Perm() != 0o500 {
			t.Errorf("a folder behind a mount: %v, %v", info, err)
		}
	}
}

// mountDuring runs a case during which dir is mounted at a place in its lane.
func (r *rig) mountDuring(dir, place string) outcomeOf {
	r.Helper()
	p := newPipe(r.T)
	mounted := filepath.Join(r.TempDir(), "go")
	done := r.begin(r.Context(), "one.c", "mkdir x; echo n > n; pwd > "+p.path+"; while [ ! -e "+mounted+" ]; do :; done")
	lane := filepath.Dir(p.await(r.T)) // the crew is another goroutine's now
	must(r, syscall.Mount(dir, filepath.Join(lane, place), "", syscall.MS_BIND, ""))
	must(r, os.WriteFile(mounted, nil, 0o600))
	return <-done
}

func alone(t *testing.T) bool {
	t.Helper()
	if !again(t, asRootOfItsOwn) {
		return false
	}
	must(t, syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	return true
}

// TestMountBelow: what is mounted in a lane during a case is taken away, and
// nothing behind it is touched.
func TestMountBelow(t *testing.T) {
	if !alone(t) {
		return
	}
	r := newRig(t, usual(t), plainly)
	for _, place := range []string{"work/x", "work", "work/inc", "home", ""} {
		dir, intact := canary(t)
		got := r.mountDuring(dir, place)
		must(r, got.err)
		r.want(r.tell(got.result), "exit 0", `n "n\n"`)
		got.result.Release()
		r.wantClean("next.c")
		intact()
	}
}

// TestMountStuck: what is mounted in a lane and cannot be taken away costs the
// lane its folder, and nothing behind it is touched then or at the end.
func TestMountStuck(t *testing.T) {
	if !alone(t) {
		return
	}
	for _, place := range []string{"work/x", "work", "work/inc", "home", ""} {
		t.Run(place, func(t *testing.T) {
			runtime.LockOSThread() // which ends with the test, and its loss with it
			must(t, unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0))
			r := newRig(t, usual(t), plainly)
			dir, intact := canary(t)
			at := filepath.Join(r.crew.lanes[0].root, place)
			got := r.mountDuring(dir, place)
			if regress.ClassOf(got.err) != regress.Environment || !strings.Contains(got.err.Error(), "mounted at "+at) {
				r.Errorf("class %v: %v", regress.ClassOf(got.err), got.err)
			}
			unable(r.T, func() {
				r.wantClean("next.c")
				if err := removeBase(r.crew.base.dir); err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "unmount it and remove ") {
					r.Errorf("removed: %v", err)
				}
			})
			intact()
			must(r, syscall.Unmount(at, 0))
		})
	}
}

// unable calls do without the right to mount on this thread.
func unable(t *testing.T, do func()) {
	t.Helper()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	must(t, unix.Capget(&header, &sets[0]))
	had := sets[0].Effective
	sets[0].Effective &^= 1 << unix.CAP_SYS_ADMIN
	must(t, unix.Capset(&header, &sets[0]))
	defer func() {
		sets[0].Effective = had
		must(t, unix.Capset(&header, &sets[0]))
	}()
	do()
}
