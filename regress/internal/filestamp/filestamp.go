// Package filestamp detects whether a file changed without reading it. A stamp consists of what the
// system updates at each write and each replacement of a file. It opens nothing.
package filestamp

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// Of returns the stamp of a file. It differs for another file of the same name and after any change
// of the file, even a reverted one. It has inode numbers and times, so it is valid only on one
// machine.
func Of(info fs.FileInfo) string {
	text := fmt.Sprintf("%d bytes, %d", info.Size(), info.ModTime().UnixNano())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		text += fmt.Sprintf(", %d, inode %d", ChangeTime(st).UnixNano(), st.Ino)
	}
	return text
}

// HasRested reports whether a file has not changed for the duration rest. Only then do its times identify
// it: a change within the same tick of the file system's clock would not show.
func HasRested(info fs.FileInfo, rest time.Duration) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && time.Since(info.ModTime()) > rest && time.Since(ChangeTime(st)) > rest
}
