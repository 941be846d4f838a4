package fileio

import "golang.org/x/sys/unix"

// flush makes the disk keep what was written to a file: its data, and what is needed to read
// it.
func flush(file int) error { return unix.Fdatasync(file) }

// flushesAll reports whether syncFS works.
const flushesAll = true

// syncFS flushes the folder's file system. It reports errors of all files that were written
// since the last call.
func syncFS(folder int) error { return unix.Syncfs(folder) }
