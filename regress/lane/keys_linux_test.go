package lane

import (
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// TestKeys: a lane finds the keys that its caller has, and notices what is left in its
// own session keyring, or done to that.
func TestKeys(t *testing.T) {
	const join, revoke = 1, 3 // KEYCTL_JOIN_SESSION_KEYRING, _REVOKE
	for name, leave := range map[string]func(){
		"key":     func() { addKey("muster-test-left") },
		"revoked": func() { _, _ = keyctl(revoke, sessionKeyring, 0, 0) },
	} {
		told := make(chan string)
		go func() {
			runtime.LockOSThread() // which ends with the goroutine, and the keyring with it
			said := ""
			defer func() { told <- said }()
			if _, e := keyctl(join, 0, 0, 0); e != 0 {
				said = "no keyrings here: " + e.Error()
				return
			}
			if e := addKey("muster-test-given"); e != 0 {
				t.Errorf("add_key: %v", e)
			}
			var k keys
			k.begin()
			if !k.own || k.left() {
				t.Errorf("a new lane's: %+v", k)
			}
			if e := findKey("muster-test-given"); e != 0 {
				t.Errorf("the caller's key: %v", e)
			}
			if leave(); !k.left() {
				t.Errorf("%s: not noticed", name)
			}
		}()
		if said := <-told; said != "" {
			needed(t, said)
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

// findKey looks for one from there.
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
	k.begin()
	for b.Loop() {
		if k.left() {
			b.Fatal("something is left")
		}
	}
}
