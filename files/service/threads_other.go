//go:build !linux

package service

import "runtime/pprof"

// osThreads is how many threads of the system Go has started; it keeps them.
func osThreads() int { return pprof.Lookup("threadcreate").Count() }
