// Package regress has the public data of the commands that record outcomes and compare them: options,
// summaries, verdicts and classes of errors. The commands are the packages beside it.
//
// A command takes Options, which have a field for each flag. It returns a Summary, or an error;
// ClassOf returns the class of the error. While one command writes to a golden or a state folder, a
// second one fails with an error of class Input.
//
// The package must not read files, check options or print. It imports the standard library only.
package regress
