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
	})
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
