// Package filestamp detects whether a file changed without reading it. A stamp consists of what the
// system updates at each write and each replacement of a file. It opens no file that it stamps. README.md says
// when a stamp proves that the content is the same.
package filestamp

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"
)

// RestMin is how long a file must be unchanged before its stamp can be trusted. A change within the same
// tick of the file system's clock would not show, and old ext file systems count whole seconds.
const RestMin = 2 * time.Second

// Of returns the stamp of a file. It differs for another file of the same name and after any change
// of the file, even a reverted one. It lacks the mount: compare it only with stamps that are kept in the
// same folder, or of the same open file.
func Of(info fs.FileInfo) string {
	text := fmt.Sprintf("%d bytes, %d", info.Size(), info.ModTime().UnixNano())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		text += fmt.Sprintf(", %d, inode %d", ChangeTime(st).UnixNano(), st.Ino)
	}
	return text
}

// WithoutMount returns what Of returned for a stamp with a mount. It survives a restart of the machine.
func WithoutMount(stamp string) string {
	stamp, _, _ = strings.Cut(stamp, deviceField)
	return stamp
}

// deviceField begins what At adds to a stamp.
const deviceField = ", device "
