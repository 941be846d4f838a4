// Package cost estimates from paired runs of two commands how much more or less CPU time and memory
// the new command takes.
//
// It assumes nothing about the distribution of times, except that neither command is favoured
// within a pair. README.md reports what was tried. Its input is figures, and its output is values.
// It must not run or measure anything, print, or decide an exit status.
package cost
