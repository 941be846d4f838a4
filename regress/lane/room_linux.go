package lane

import "syscall"

// freeBytesMin is the free space, in bytes, below which a lane's file system counts as full:
// the outputs of the case may then be cut short.
const freeBytesMin = 64 << 10

// checkFreeSpace returns an error if the file system is full. The case then failed because of
// the machine, not the tool.
func (h *helper) checkFreeSpace() error {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(h.stdout.fd, &st); err != nil {
		return fail("look at", h.setup.Outbox, err)
	}
	h.freeBytes = int64(st.Bavail) * int64(st.Bsize)
	if h.freeBytes < freeBytesMin || st.Files > 0 && st.Ffree < 2 {
		return fail("use", h.setup.Root, syscall.ENOSPC)
	}
	return nil
}
