package main

import (
	"fmt"
	"syscall"
)

// openFilesMin is how many files must be allowed to be open for any command.
// With fewer the runtime crashes, or SQLite cannot say what it lacks.
const openFilesMin = 32

// enoughFiles returns an error when hardly any file may be opened. The runtime
// has raised the limit as far as it may by now.
func enoughFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= openFilesMin {
		return nil // what cannot be asked is found out later
	}
	return fmt.Errorf("only %d files may be open at once, and muster needs %d: raise the limit (ulimit -n)", limit.Cur, openFilesMin)
}
