// Package cause groups the differences of many cases by cause. It turns the differences of each
// case into literal edits, edits into signatures, and signatures into causes and families.
//
// A cause lets a person decide on many cases at once. The edits behind it are exact: applied to the
// old output, they produce the new one, byte for byte (Replay).
//
// It is pure: no disk, clock, network or process. It must not judge: the caller reports that a case
// differs, and how it ended.
package cause
