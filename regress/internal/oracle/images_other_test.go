//go:build !linux

package oracle

import "testing"

type images []string

func mountImages(*testing.T, *modelPlace) images { return nil }

func (images) mount(string) error { return nil }
