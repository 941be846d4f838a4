// Package lane is the helper process in which cases run: one small process per
// lane, with a folder of its own, that places a source, runs the command,
// collects what it left, and brings the folder back to what it was.
//
// The helper is the importing program itself, started again with a private
// argument (Argument) and taken over in this package's init, before heavier
// packages initialise. That is the one exception to "no work in init", and it
// is what makes a case's peak memory true: Linux lets a child's ru_maxrss begin
// at the high-water mark of the process that spawned it, so the spawner must be
// small. For the same reason this package must not import "os", nor anything
// that does: what depends on "os" initialises after it.
//
// A program that imports muster/regress carries the helper and needs to do
// nothing else. The package must not judge, compare or digest: it only reports
// what was there.
//
// The parent's side is regress/internal/exec/local. It finds here what both sides
// must agree on, the messages and their frames, and what the helper has anyway and
// takes raw system calls or the table of mounts: ReadNow, SendNow and Detach. They
// are not in the parent's package so that unsafe stays in this one.
package lane

// Argument is the first argument that makes a program which imports this
// package a lane helper.
const Argument = "muster-lane-helper"

// What the helper inherits: its end of a stream socket pair, the archive or folder
// that holds the sources, and the end of a pipe. On standard error it says why it
// ends, when it must.
const (
	JobsFD    = 3
	CorpusFD  = 4
	AnswersFD = 5
)
