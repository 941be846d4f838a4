// Package cause groups the differences of many cases by cause. An edit is one replacement in one case,
// byte for byte. A signature is the pattern of an edit, such as "a cast before a call". A cause is a
// set of signatures that a person decides on at once. A family is a set of similar, rare causes.
// Input: both sides of each case. Output: Found, with the causes and their cases.
//
// Edits are exact: applied to the old output, they produce the new one (Replay).
//
// It is pure: no disk, clock, network or process. It must not judge: the caller reports that a case
// differs, and how it ended.
package cause
