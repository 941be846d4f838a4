//go:build amd64 || arm64

package lane

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// TestQueuedfinds a message queue of POSIX's that a case left.
func TestQueued(t *testing.T) {
	if os.Geteuid() != 0 {
		needed(t, "only root makes such a namespace without another around it")
	}
	result := make(chan [3]bool)
	go func() {
		runtime.LockOSThread() // which ends with the goroutine, and the namespace with it
		var i ipc
		var seen [3]bool
		defer func() { result <- seen }()
		if i.unshare(true); i.queues < 0 {
			t.Error("the folder of the queues cannot be had")
			return
		}
		defer closeFD(i.queues)
		seen[0] = i.hasObjects()
		name := []byte("muster-test\x00")
		at := uintptr(unsafe.Pointer(unsafe.SliceData(name)))
		fd, _, e := syscall.RawSyscall6(syscall.SYS_MQ_OPEN, at, syscall.O_RDWR|syscall.O_CREAT, 0o600, 0, 0, 0)
		if e != 0 {
			t.Errorf("mq_open: %v", e)
			return
		}
		closeFD(int(fd))
		seen[1] = i.hasObjects()
		_, _, _ = syscall.RawSyscall(syscall.SYS_MQ_UNLINK, at, 0, 0)
		runtime.KeepAlive(name)
		seen[2] = i.hasObjects()
	}()
	if got, want := <-result, [3]bool{false, true, false}; got != want {
		t.Errorf("seen %v, want %v", got, want)
	}
}
