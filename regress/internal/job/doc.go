// Package job makes a Job of the options of a command. Options are raw: a Job takes missing ones
// from the golden or from the past run that the command repeats, and refuses those that mean
// nothing. It is complete, and nobody changes it.
//
// The package has the settings that a golden keeps, and the forms of options on a command line and
// in run.json. It must not open a file, start anything, or report.
package job
