// Package plainfiles writes a golden as a folder of plain files, and reads it back. People can read
// the files with their own tools, and compare goldens. README.md describes the folder.
//
// Two goldens have equal exports exactly if all compared parts of their outcomes are equal, and
// they were recorded with the same flags and selection, both with an engine or both without.
//
// It must not know how a golden is stored.
package plainfiles
