// Package cause finds in how few ways many outputs differ: from the differences of
// each case to literal edits, to signatures, to causes, to families.
//
// A cause is for choosing in bulk. What it stands for is exact: the literal edits of a
// case, replayed on what there was, give what there is now, byte for byte (Replay).
//
// It is pure: no disk, clock, network or process. It must not judge: that a case
// differs, and how it ended, it is told.
package cause
