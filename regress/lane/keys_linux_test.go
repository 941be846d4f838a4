package lane

import (
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// TestKeyschecks that a lane finds its caller's keys, and detects what a case left in or did to
// the lane's own session keyring.
func TestKeys(t *testing.T) {
	const join, revoke = 1, 3 // KEYCTL_JOIN_SESSION_KEYRING, _REVOKE
	for name, leave := range map[string]func(){
		"key":     func() { addKey("muster-test-left") },
		"revoked": func() { _, _ = keyctl(revoke, sessionKeyring, 0, 0) },
	} {
		result := make(chan string)
		go func() {
			runtime.LockOSThread() // which ends with the goroutine, and the keyring with it
			failure := ""
			defer func() { result <- failure }()
			if _, e := keyctl(join, 0, 0, 0); e != 0 {
				failure = "no keyrings here: " + e.Error()
				return
			}
			if e := addKey("muster-test-given"); e != 0 {
				t.Errorf("add_key: %v", e)
			}
			var k keys
			k.joinKeyring()
			if !k.own || k.hasKeys() {
				t.Errorf("a new lane's: %+v", k)
			}
			if e := findKey("muster-test-given"); e != 0 {
				t.Errorf("the caller's key: %v", e)
			}
			if leave(); !k.hasKeys() {
				t.Errorf("%s: not noticed", name)
			}
		}()
		if failure := <-result; failure != "" {
			needed(t, failure)
		}
	}
}

// addKey puts a key into this thread's session keyring.
func addKey(name string) syscall.Errno {
	kind, text := []byte("user\x00"), []byte(name+"\x00")
	_, _, e := syscall.RawSyscall6(syscall.SYS_ADD_KEY, uintptr(unsafe.Pointer(&kind[0])), uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(&text[0])), 1, sessionKeyring, 0)
	runtime.KeepAlive(kind)
	runtime.KeepAlive(text)
	return e
}

// findKey searches that keyring for a key.
func findKey(name string) syscall.Errno {
	const search = 10 // KEYCTL_SEARCH
	kind, text := []byte("user\x00"), []byte(name+"\x00")
	_, e := keyctl(search, sessionKeyring, uintptr(unsafe.Pointer(&kind[0])), uintptr(unsafe.Pointer(&text[0])))
	runtime.KeepAlive(kind)
	runtime.KeepAlive(text)
	return e
}

func BenchmarkKeysLeft(b *testing.B) {
	runtime.LockOSThread()
	var k keys
	k.joinKeyring()
	for b.Loop() {
		if k.hasKeys() {
			b.Fatal("something is left")
		}
	}
}
