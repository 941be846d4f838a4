//go:build !purego

#include "textflag.h"

// func clone(flags uintptr, pidfd *int32, steps *step, count uintptr, stack unsafe.Pointer) (pid int)
//
// The child shares memory with the parent, which may run meanwhile. The child
// makes the system calls that steps lists, notes what each returned, and ends
// at the first that fails. The last is execve, which does not return. stack is
// the end of the child's stack, which only a handler of a signal uses.
TEXT ·clone(SB), NOSPLIT, $0-48
	MOVQ	flags+0(FP), DI
	MOVQ	stack+32(FP), SI
	MOVQ	pidfd+8(FP), DX
	XORQ	R10, R10
	XORQ	R8, R8
	MOVQ	steps+16(FP), R12
	MOVQ	count+24(FP), R13
	MOVQ	$56, AX             // clone
	SYSCALL
	TESTQ	AX, AX
	JEQ	child
	MOVQ	AX, pid+40(FP)
	RET
child:
	MOVQ	0(R12), AX
	MOVQ	8(R12), DI
	MOVQ	16(R12), SI
	MOVQ	24(R12), DX
	SYSCALL
	MOVQ	AX, 32(R12)
	CMPQ	AX, $0xfffffffffffff001
	JCC	end
	ADDQ	$40, R12
	DECQ	R13
	JNE	child
end:
	MOVL	$127, DI
	MOVQ	$60, AX             // exit
	SYSCALL
	JMP	end

// The handler of the alarm's signal does nothing. The signal itself ends the wait.
TEXT alarmed<>(SB), NOSPLIT|NOFRAME, $0
	RET

TEXT restore<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ	$15, AX             // rt_sigreturn
	SYSCALL

// func alarmHandler() (handler, returning uintptr)
TEXT ·alarmHandler(SB), NOSPLIT, $0-16
	LEAQ	alarmed<>(SB), AX
	MOVQ	AX, handler+0(FP)
	LEAQ	restore<>(SB), AX
	MOVQ	AX, returning+8(FP)
	RET
