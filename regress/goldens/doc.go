// Package goldens works on golden files: it describes, checks, repairs, compacts, merges and prints
// them, and exports and imports them as plain files.
//
// Each function takes the path or address of a golden from Options.Store, and prints its result on
// the standard output of the host. Errors say what to do; regress.ClassOf has their class. Repair,
// Compact and Merge need a file, the others take an address, too. The package must not run cases or
// judge outcomes.
package goldens
