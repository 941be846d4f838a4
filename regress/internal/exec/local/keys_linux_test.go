package local

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// TestKeys: a key that a case puts into its session keyring is gone for the next, and
// for those outside, and costs a helper only where there is one.
func TestKeys(t *testing.T) {
	if _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); err != nil {
		needed(t, fmt.Sprint("no keyrings here: ", err))
	}
	mark := newMark()
	inAllModes(t, func(r *rig) {
		for range 2 {
			r.want(r.run("one.c", "exec "+self("keys", "add", mark)), "exit 0")
			r.want(r.run("next.c", "exec "+self("keys", "find", mark)), "exit 98", `stderr "required key not available\n"`)
		}
		if err := keysTool([]string{"find", mark}); err != unix.ENOKEY {
			r.Errorf("a case's key outside: %v", err)
		}
		before := r.crew.started.Load()
		r.wantClean("next.c")
		r.wantClean("one.c")
		if more := r.crew.started.Load() - before; more > 0 && !underRace {
			r.Errorf("%d helpers more", more)
		}
	})
}

// keysTool adds a key to its session keyring, or looks for it.
func keysTool(args []string) (err error) {
	const kind = "user"
	name := "muster-test-" + args[1]
	if args[0] == "add" {
		_, err = unix.AddKey(kind, name, []byte("secret"), unix.KEY_SPEC_SESSION_KEYRING)
	} else {
		_, err = unix.KeyctlSearch(unix.KEY_SPEC_SESSION_KEYRING, kind, name, 0)
	}
	return err
}
