package main

import (
	"fmt"
	"syscall"

	"muster/regress"
)

// enoughFiles returns an error when hardly any file may be opened: with fewer than
// one lane needs the runtime crashes, or SQLite cannot say what it lacks. The runtime
// has raised the limit as far as it may by now.
func enoughFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= regress.OpenFilesMin {
		return nil // what cannot be asked is found out later
	}
	return fmt.Errorf("only %d files may be open at once, and muster needs %d: raise the limit (ulimit -n)", limit.Cur, regress.OpenFilesMin)
}
