// Package shrink makes a source smaller while it keeps what is wanted of it: delta
// debugging, first by the forms that brackets and line ends make, then by lines, by
// bracketed groups and by tokens, again and again until nothing more can go; then the
// spaces that are left over.
//
// Candidates are tested several at a time, and the result is that of testing one after
// another, however many lanes there are and however long a test takes: tests ahead are
// guesses, and only those whose turn comes count (see ahead.go).
//
// It is pure: no disk, clock, network or process. It must not know any language, nor
// what is wanted: that is the caller's test.
package shrink
