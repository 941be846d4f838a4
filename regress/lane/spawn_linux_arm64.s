//go:build !purego

#include "textflag.h"

// func clone(flags uintptr, pidfd *int32, steps *step, count uintptr, stack unsafe.Pointer) (pid int)
//
// As spawn_linux_amd64.s says.
TEXT ·clone(SB), NOSPLIT, $0-48
	MOVD	flags+0(FP), R0
	MOVD	stack+32(FP), R1
	MOVD	pidfd+8(FP), R2
	MOVD	ZR, R3
	MOVD	ZR, R4
	MOVD	steps+16(FP), R19
	MOVD	count+24(FP), R20
	MOVD	$220, R8            // clone
	SVC
	CBZ	R0, child
	MOVD	R0, pid+40(FP)
	RET
child:
	MOVD	0(R19), R8
	MOVD	8(R19), R0
	MOVD	16(R19), R1
	MOVD	24(R19), R2
	SVC
	MOVD	R0, 32(R19)
	CMN	$4095, R0
	BCS	end
	ADD	$40, R19
	SUB	$1, R20
	CBNZ	R20, child
end:
	MOVD	$127, R0
	MOVD	$93, R8             // exit
	SVC
	B	end

TEXT alarmed<>(SB), NOSPLIT|NOFRAME, $0
	RET

TEXT restore<>(SB), NOSPLIT|NOFRAME, $0
	MOVD	$139, R8            // rt_sigreturn
	SVC

// func alarmHandler() (handler, returning uintptr)
TEXT ·alarmHandler(SB), NOSPLIT, $0-16
	MOVD	$alarmed<>(SB), R0
	MOVD	R0, handler+0(FP)
	MOVD	$restore<>(SB), R0
	MOVD	R0, returning+8(FP)
	RET
