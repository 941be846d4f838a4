//go:build (amd64 || arm64) && !purego

package observe

import (
	"syscall"
	"unsafe"
)

// ownFilter returns the address of the filter that the tool installs for itself with a call of seccomp or
// prctl, or 0. listens says that it wants to be asked about calls, as the observer is: the kernel allows that once.
func ownFilter(number int, args *[6]uint64) (program uint64, listens bool) {
	const (
		setFilter   = 1 // SECCOMP_SET_MODE_FILTER
		newListener = 8 // SECCOMP_FILTER_FLAG_NEW_LISTENER
		setSeccomp  = 22
		modeFilter  = 2
	)
	switch {
	case number == SysSeccomp && args[0] == setFilter:
		return args[2], args[1]&newListener != 0
	case number == syscall.SYS_PRCTL && args[0] == setSeccomp && args[1] == modeFilter:
		return args[2], false
	}
	return 0, false
}

// instructionsMax is BPF_MAXINSNS: the kernel takes no longer filter.
const instructionsMax = 4096

// stopsCalls reports whether a filter of the tool may have a call decided by another process. The
// observer's answer takes the place of that process's. A filter that only refuses calls hides nothing:
// what it refuses uses no file.
func stopsCalls(pid uint32, program uint64) (bool, error) {
	var header [16]byte // struct sock_fprog: a length, and an address
	if err := readFrom(pid, program, header[:]); err != nil {
		return false, err
	}
	n := int(wordAt(header[:], 0) & 0xffff)
	if n == 0 || n > instructionsMax {
		return false, syscall.EINVAL // the kernel says so too
	}
	text := make([]byte, 8*n) // struct sock_filter: a code of two bytes, two jumps, a constant
	if err := readFrom(pid, wordAt(header[:], 8), text); err != nil {
		return false, err
	}
	const (
		class       = 0x07
		returns     = 0x06 // BPF_RET
		actionFull  = 0xffff0000
		resultTrace = 0x7ff00000
	)
	for ; len(text) > 0; text = text[8:] {
		word := *(*uint64)(unsafe.Pointer(&text[0]))
		if code, k := uint16(word), uint32(word>>32); code&class == returns {
			if action := k & actionFull; code != finish || action == resultTrace || action == resultNotify {
				return true, nil
			}
		}
	}
	return false, nil
}
