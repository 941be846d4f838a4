// Package goldens works on golden files: it describes, checks, repairs, compacts, merges and prints
// them, and exports and imports them as plain files.
//
// Input: the golden that Options.Store.Golden names; Merge takes names instead. Repair, Compact and
// the target of Merge must be files; the others may also be addresses. Output: a text on the standard
// output of the host, except from Export and Import. Error texts say what to do; regress.ClassOf
// returns the class of an error.
//
// The package must not run cases or judge outcomes.
package goldens
