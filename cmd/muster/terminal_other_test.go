//go:build !linux

package main_test

import (
	"github.com/rogpeppe/go-internal/testscript"
)

type sittingsKey struct{}

// Sittings exist on Linux only, as scripts do.
type sitting struct{}

func terminalCommands() map[string]func(*testscript.TestScript, bool, []string) { return nil }
