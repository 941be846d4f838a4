package local

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRunFolderHidden: a case that clears, alters and shuts whatever it finds where
// lanes are reaches neither another lane nor what a case before it left.
func TestRunFolderHidden(t *testing.T) {
	inAllModes(t, func(r *rig) {
		if r.crew.o.plain {
			return // all lanes are open to whoever is the same user
		}
		before := r.crew.started.Load()
		large, err := r.try("next.c", "head -c 100000 /dev/zero > large")
		must(r, err)
		dir := r.crew.base.dir
		script := "exec 2> /dev/null; ls -A DIR DIR/000; rm -rf DIR/* DIR; chmod 777 DIR; for f in DIR/000.out1/*; do echo evil > $f; done; (: > DIR/x); exit 0"
		r.want(r.run("one.c", strings.ReplaceAll(script, "DIR", dir)), "exit 0", `stdout "`+dir+`:\n"`)
		r.want(r.tell(large), "exit 0", "large "+zeros(100_000))
		large.Release()
		r.wantClean("next.c")
		if more := r.crew.started.Load() - before; more > 0 && !underRace {
			r.Errorf("%d helpers more", more)
		}
		if _, err := os.Lstat(dir + "/" + markerName); err != nil {
			r.Error(err)
		}
	})
}

// TestSystemV: shared memory, semaphores and queues that a case leaves are not
// there for the next one, nor outside.
func TestSystemV(t *testing.T) {
	inAllModes(t, func(r *rig) {
		if r.crew.o.plain {
			return // it is as elsewhere
		}
		for _, what := range []string{"shm", "sem", "msg"} {
			for range 2 {
				r.want(r.run("one.c", "exec "+self("sysv", what, "new")), "exit 0")
				if err := sysvTool([]string{what}); !errors.Is(err, unix.ENOENT) {
					r.Errorf("%s outside: %v", what, err)
				}
			}
			r.want(r.run("next.c", "exec "+self("sysv", what)), "exit 98", `stderr "`+what+`: no such file or directory\n"`)
		}
		before := r.crew.started.Load()
		r.want(r.run("one.c", "exec "+self("sysv", "sem", "new", "remove")), "exit 0")
		r.wantClean("next.c")
		if more := r.crew.started.Load() - before; more > 0 && !underRace {
			r.Errorf("%d helpers more", more)
		}
	})
}

// sysvTool opens or makes one such thing, and removes it if asked to.
func sysvTool(args []string) error {
	const key = 0x6d757374
	flags := uintptr(0)
	if len(args) > 1 {
		flags = unix.IPC_CREAT | unix.IPC_EXCL | 0o600
	}
	id, e := uintptr(0), unix.Errno(0)
	switch args[0] {
	case "shm":
		id, _, e = unix.Syscall(unix.SYS_SHMGET, key, 4096, flags)
	case "sem":
		id, _, e = unix.Syscall(unix.SYS_SEMGET, key, 1, flags)
	case "msg":
		id, _, e = unix.Syscall(unix.SYS_MSGGET, key, flags, 0)
	}
	if e == 0 && len(args) > 2 {
		_, _, e = unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID)
	}
	if e != 0 {
		return fmt.Errorf("%s: %w", args[0], e)
	}
	return nil
}
