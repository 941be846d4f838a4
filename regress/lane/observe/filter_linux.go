//go:build (amd64 || arm64) && !purego

package observe

import (
	"syscall"
	"unsafe"
)

// instruction is struct sock_filter of the kernel's packet filter.
type instruction struct {
	code uint16
	jt   uint8 // instructions to skip if the condition holds
	_    uint8 // otherwise: none, in this program
	k    uint32
}

// program is struct sock_fprog.
type program struct {
	length uint16
	first  *instruction
}

// These are codes of instructions (linux/bpf_common.h), and results (linux/seccomp.h).
const (
	load          = 0x20 // BPF_LD | BPF_W | BPF_ABS
	jumpEqual     = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	jumpAtLeast   = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	jumpAnySet    = 0x45 // BPF_JMP | BPF_JSET | BPF_K
	finish        = 0x06 // BPF_RET | BPF_K
	resultAllow   = 0x7fff0000
	resultNotify  = 0x7fc00000
	resultNoCall  = 0x00050000 | uint32(syscall.ENOSYS)
	offsetNumber  = 0 // of struct seccomp_data
	offsetArch    = 4
	offsetArgs    = 16
	foreignNumber = 0x40000000 // numbers of x32 begin here
)

// sysIOUringSetup is the same number on all architectures.
const sysIOUringSetup = 425

// compile writes the filter. It stops the calls that name files, and all calls of another
// architecture. Calls that would hide file operations from the filter fail as on an old kernel.
// The helper's own execve of the command passes: its path is at that address.
func compile(executable uintptr) []instruction {
	const stop, allow, refuse = 0, 1, 2 // results, below
	var list []instruction
	type jump struct{ at, to int }
	var jumps []jump // whose true branch goes to a result
	to := func(code uint16, k uint32, result int) {
		jumps = append(jumps, jump{len(list), result})
		list = append(list, instruction{code: code, k: k})
	}
	list = append(list, instruction{code: load, k: offsetArch}, instruction{code: jumpEqual, jt: 1, k: auditArch})
	to(jumpAtLeast, 0, stop) // always
	list = append(list, instruction{code: load, k: offsetNumber})
	to(jumpAtLeast, foreignNumber, stop)
	to(jumpEqual, sysIOUringSetup, refuse)
	for i, s := range shapes {
		isRepeated := i > 0 && shapes[i-1].number == s.number
		if s.number >= 0 && s.number != sysExecve && !isRepeated {
			to(jumpEqual, uint32(s.number), stop)
		}
	}
	list = append(list, instruction{code: jumpEqual, jt: 1, k: sysExecve})
	to(jumpAtLeast, 0, allow)
	for i, half := range []uint32{uint32(executable), uint32(executable >> 32)} {
		list = append(list, instruction{code: load, k: offsetArgs + 4*uint32(i)}, instruction{code: jumpEqual, jt: 1, k: half})
		to(jumpAtLeast, 0, stop)
	}
	results := [...]instruction{{code: finish, k: resultNotify}, {code: finish, k: resultAllow}, {code: finish, k: resultNoCall}}
	list = append(list, instruction{code: finish, k: resultAllow})
	base := len(list)
	list = append(list, results[:]...)
	for _, j := range jumps {
		list[j.at].jt = uint8(base + j.to - j.at - 1)
	}
	return list
}

// assemble returns the filter as seccomp(2) takes it.
func assemble(list []instruction) *program {
	return &program{length: uint16(len(list)), first: unsafe.SliceData(list)}
}
