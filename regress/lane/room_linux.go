package lane

import "syscall"

// reserve is the free space, in bytes, under which a lane's file system counts
// as full: what the case leaves may then have been cut short by it.
const reserve = 64 << 10

// roomLeft reports a full file system, which makes the case's outcome the
// machine's and not the tool's.
func (h *helper) roomLeft() error {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(h.stdout.fd, &st); err != nil {
		return fail("look at", h.setup.Outbox, err)
	}
	h.free = int64(st.Bavail) * int64(st.Bsize)
	if h.free < reserve || st.Files > 0 && st.Ffree < 2 {
		return fail("use", h.setup.Root, syscall.ENOSPC)
	}
	return nil
}
