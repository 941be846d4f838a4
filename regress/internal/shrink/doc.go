// Package shrink reduces a source while a test still passes: delta debugging. It removes forms that
// brackets and line ends delimit, then lines, bracketed groups and tokens, until nothing more can
// go. At last it removes spare spaces.
//
// It tests several candidates at a time. The result is the same as with one after another, whatever
// the number of lanes and the duration of tests. Tests ahead are guesses, and count only if their
// turn comes (see ahead.go).
//
// It is pure: no disk, clock, network or process. It must not know any language, nor the aim of the
// reduction: that is the caller's test.
package shrink
