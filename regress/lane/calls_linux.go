//go:build amd64 || arm64

package lane

import (
	"runtime"
	"syscall"
	"unsafe"
)

// SendNow writes to a socket as much as there is room for. See ReadNow.
func SendNow(fd int, b []byte) (int, error) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

func (p *path) lstat(st *syscall.Stat_t) error {
	const noFollow = 0x100 // AT_SYMLINK_NOFOLLOW
	number := uintptr(262) // SYS_NEWFSTATAT of amd64
	if runtime.GOARCH == "arm64" {
		number = 79 // SYS_FSTATAT
	}
	_, _, e := syscall.RawSyscall6(number, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))),
		uintptr(unsafe.Pointer(st)), noFollow, 0, 0)
	return asError(e)
}

// ipc watches System V's shared memory, semaphores and message queues. They belong to no process
// and stay until somebody removes them. So a lane has a namespace of its own for them, as far as
// the kernel permits.
type ipc struct{ own bool }

// unshare makes the namespace for this thread, which starts the commands.
func (i *ipc) unshare(apart bool) {
	const newIPC = 0x08000000 // CLONE_NEWIPC
	if apart {
		_, _, e := syscall.RawSyscall(syscall.SYS_UNSHARE, newIPC, 0, 0)
		i.own = e == 0
	}
}

// hasObjects reports whether a case left any. Then the next case needs another helper: they
// end with this one's namespace. The three calls take 0.5 µs.
func (i *ipc) hasObjects() bool {
	if !i.own {
		return false
	}
	const shmInfo, semInfo, msgInfo = 14, 19, 12 // SHM_INFO, SEM_INFO, MSG_INFO
	var shm, sem, msg [32]int32                  // struct shm_info, seminfo, msginfo
	_, _, _ = syscall.RawSyscall(syscall.SYS_SHMCTL, 0, shmInfo, uintptr(unsafe.Pointer(&shm)))
	_, _, _ = syscall.RawSyscall6(syscall.SYS_SEMCTL, 0, 0, semInfo, uintptr(unsafe.Pointer(&sem)), 0, 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_MSGCTL, 0, msgInfo, uintptr(unsafe.Pointer(&msg)))
	return shm[0] > 0 || sem[7] > 0 || msg[0] > 0 // used_ids, semusz, msgpool
}
