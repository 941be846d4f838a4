// Package shrink reduces a source while a test still passes: delta debugging. It removes whole forms,
// which begin at a line and end with a bracket or a line. Then it removes lines, bracketed groups and
// tokens, until nothing more can go, and at last spare spaces.
//
// It tests several candidates at once, but the result is the same as with one after another. A test
// that was started early is used only if the sequence reaches it (ahead.go).
//
// It is pure: no disk, clock, network or process. It must not know any language, nor the aim of the
// reduction: that is the caller's test.
package shrink
