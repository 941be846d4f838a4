// Package golden is the store of outcomes: one outcome per case, and the
// content of its parts, addressed by digest and kept once. It is used twice:
// as the golden that a check compares with, and as the store of what a run
// found differing.
//
// A store is one SQLite file in rollback-journal mode, without other files
// beside it at rest. A Writer builds a new one under another name and renames
// it at the end; a Store reads one; Update changes one in place, in a single
// transaction. All three find damage rather than give a wrong answer: a digest
// over all rows is checked whenever the file is opened, the digest of content
// whenever it is read.
//
// It must not judge outcomes, and it runs nothing. README.md says what was
// measured, and what the layout is.
package golden
