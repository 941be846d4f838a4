package fileio

import "golang.org/x/sys/unix"

// flush has the disk keep what was written to a file: its data, and what is needed to read
// it again.
func flush(file int) error { return unix.Fdatasync(file) }

// flushesAll says that there is syncFS.
const flushesAll = true

// syncFS reports errors of all files that were written since it was called last.
func syncFS(folder int) error { return unix.Syncfs(folder) }
