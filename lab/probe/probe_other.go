//go:build !linux

package probe

import (
	"errors"

	"muster/lab/results"
)

func (Exhaust) measure(Input) (results.Sample, error) {
	return results.Sample{}, errors.New("only Linux reports how many threads a machine can spare")
}

func (Block) measure(Input) (results.Sample, error) {
	return results.Sample{}, errors.New("only Linux reports threads")
}

// resident returns 0: the resident memory is unknown.
func resident() uint64 { return 0 }

// MemoryTotal returns 0: the memory of this machine is unknown.
func MemoryTotal() uint64 { return 0 }

// MemoryFree returns 0: the free memory is unknown.
func MemoryFree() int64 { return 0 }

// threads returns 0: the number of threads is unknown.
func threads() int { return 0 }
