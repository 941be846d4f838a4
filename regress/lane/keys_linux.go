package lane

import (
	"syscall"
	"unsafe"
)

// keys are what a lane has of the kernel's keys (keyrings(7)): a session keyring of its
// own, which goes with the helper, and in it a link to the one that this process came
// with. By keys in that people read file systems (AFS, encrypted folders), perhaps the one
// that has the corpus or the command, so cases still find them.
//
// Keys in the user's keyring are shared by all that the user runs outside a user
// namespace. Which case, lane or other program put one there cannot be told, so they stay.
type keys struct {
	own      bool
	given    int32 // the session keyring that this process came with
	contents [2]int32
}

const (
	sessionKeyring = ^uintptr(2) // KEY_SPEC_SESSION_KEYRING, -3
	processKeyring = ^uintptr(1) // KEY_SPEC_PROCESS_KEYRING, -2; no child inherits it
)

// begin is for this thread, which starts the commands. It may fail, and then cases have the
// caller's keyring: a container may forbid all of it, to cases too, and of the 200 keys
// that an ordinary user may have it takes two.
func (k *keys) begin() {
	const getID, join, link = 0, 1, 8 // KEYCTL_GET_KEYRING_ID, _JOIN_SESSION_KEYRING, _LINK
	given, e := keyctl(getID, sessionKeyring, 0, 0)
	if e != 0 {
		return
	}
	// What is in no keyring of ours could not be linked any more.
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

// left reports whether a case left keys in the session keyring, or revoked it: then the
// next one needs another helper, with whose keyring they go. That is one call in 0.3 µs.
func (k *keys) left() bool {
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
