//go:build !linux

package golden

import "errors"

func childFull([]string) error { return errors.New("only Linux has small disks of a process's own") }
