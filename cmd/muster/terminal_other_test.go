//go:build !linux

package main_test

import (
	"github.com/rogpeppe/go-internal/testscript"
)

type sittingsKey struct{}

// A sitting is for Linux only, as scripts are.
type sitting struct{}

func terminalCommands() map[string]func(*testscript.TestScript, bool, []string) { return nil }
