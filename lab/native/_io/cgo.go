//go:build cgo

package main

// static __attribute__((noinline)) void empty(void) {}
import "C"

func callC() { C.empty() }

var crossings = map[string]func(){"cgo": callC, "go": callGo}
