package lane

import (
	"syscall"
	"unsafe"
)

// keys gives a lane a session keyring of its own (keyrings(7)), which ends with the helper. It
// contains a link to the keyring that this process came with. Keys in that one let people read
// file systems (AFS, encrypted folders), perhaps the one with the corpus or the command. So
// cases still find them.
//
// All that a user runs outside a user namespace shares the keys of the user's keyring. Nobody
// can find out which case, lane or other program put a key there, so such keys stay.
type keys struct {
	own      bool
	given    int32 // the session keyring that this process came with
	contents [2]int32
}

const (
	sessionKeyring = ^uintptr(2) // KEY_SPEC_SESSION_KEYRING, -3
	processKeyring = ^uintptr(1) // KEY_SPEC_PROCESS_KEYRING, -2; no child inherits it
)

// joinKeyring makes the keyring for this thread, which starts the commands. If it fails, cases
// have the caller's keyring. A container may forbid all of it, also to cases. It takes two of
// the 200 keys that an ordinary user may have.
func (k *keys) joinKeyring() {
	const getID, join, link = 0, 1, 8 // KEYCTL_GET_KEYRING_ID, _JOIN_SESSION_KEYRING, _LINK
	given, e := keyctl(getID, sessionKeyring, 0, 0)
	if e != 0 {
		return
	}
	// A keyring that no keyring of this process contains could not be linked later.
	if _, e := keyctl(link, given, processKeyring, 0); e != 0 {
		return
	}
	if _, e := keyctl(join, 0, 0, 0); e != 0 {
		return
	}
	if _, e := keyctl(link, given, sessionKeyring, 0); e == 0 {
		k.own, k.given = true, int32(given)
	}
}

// hasKeys reports whether a case left keys in the session keyring, or revoked it. Then the
// next case needs another helper: they end with this one's keyring. The call takes 0.3 µs.
func (k *keys) hasKeys() bool {
	if !k.own {
		return false
	}
	const read = 11 // KEYCTL_READ
	n, e := keyctl(read, sessionKeyring, uintptr(unsafe.Pointer(&k.contents)), unsafe.Sizeof(k.contents))
	return e != 0 || n != unsafe.Sizeof(k.given) || k.contents[0] != k.given
}

func keyctl(command, a, b, c uintptr) (uintptr, syscall.Errno) {
	r, _, e := syscall.RawSyscall6(syscall.SYS_KEYCTL, command, a, b, c, 0, 0)
	return r, e
}
