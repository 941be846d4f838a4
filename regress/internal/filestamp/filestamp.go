// Package filestamp tells whether a file is still the one that it was, without
// reading it: by what the system changes whenever somebody writes to a file, or
// puts another in its place. It opens nothing.
package filestamp

import (
	"fmt"
	"io/fs"
	"syscall"
)

// Of returns a text that is another one for another file of the same name, and
// after any change of the file, one that was taken back as well. It is for the
// same machine: inode numbers and times are in it.
func Of(info fs.FileInfo) string {
	text := fmt.Sprintf("%d bytes, %d", info.Size(), info.ModTime().UnixNano())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		text += fmt.Sprintf(", %d, inode %d", ChangeTime(st).UnixNano(), st.Ino)
	}
	return text
}
