// Package lane is the helper process that runs cases: one small process per lane, with a
// folder of its own. It places a source, runs the command, collects what the command left, and
// restores the folder.
//
// The helper is the importing program itself, started again with a private argument (Argument)
// and taken over in this package's init. So it must not import "os": its memory is the floor
// of what can be measured of a case. README.md in this folder explains both.
//
// A program that imports muster/regress contains the helper and needs to do nothing else. The
// package must not judge, compare or digest: it only reports what it found. The parent's side
// is regress/internal/exec/local, which uses the messages and frames, ReadNow, SendNow and
// Detach.
package lane

// Argument is the first argument that makes a program which imports this package a lane
// helper.
const Argument = "muster-lane-helper"

// A helper inherits these descriptors: its end of a stream socket pair, the archive or folder
// that holds the sources, and the end of a pipe for its answers. It prints a fatal error to
// standard error.
const (
	JobsFD    = 3
	CorpusFD  = 4
	AnswersFD = 5
)
