// Package regress has the public data of the commands that record outcomes and compare them: options,
// summaries, verdicts and classes of errors. The commands are the packages beside it.
//
// In go Options, which a caller fills as a user gives flags; out comes a Summary, or an error whose
// class ClassOf returns. A command that writes to a golden, or keeps a run in a state folder, locks it:
// a second command gets an error of class Input.
//
// The package must not read files, check options or print. It imports the standard library only.
package regress
