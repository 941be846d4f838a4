//go:build !linux

package service

import "runtime/pprof"

// osThreads counts the system threads that Go has started. Go keeps them.
func osThreads() int { return pprof.Lookup("threadcreate").Count() }
