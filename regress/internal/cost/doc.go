// Package cost tells, from runs of two commands in turns, how much more or less CPU time
// and memory the new one takes than the old one.
//
// It assumes nothing of how times are distributed but that within a pair neither command
// is favoured; README.md says what was tried. It takes figures and returns values: it
// must not run or measure anything, print, or decide an exit status.
package cost
