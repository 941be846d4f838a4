// Package cost estimates from paired runs of two commands how much more or less CPU time and memory
// the new command takes. Input: CPU time and peak memory of each run. Output: an estimated ratio with
// its bounds, warnings, and the limits of --fail-on that it exceeds.
//
// It assumes nothing about the distribution of times, except that neither command is favoured
// within a pair. README.md reports what was tried. It must not run or measure anything, print, or
// decide an exit status.
package cost
