// Package past reads past runs: Runs lists them, Groups prints the causes of a run, Show a cause or a
// case, and Replay the events of a run. The functions whose names end in Choices are for the
// completions of a shell.
//
// An ID is the beginning of a run's ID; "" is the last run. Results go to the standard output of the
// host. Errors say what to do; regress.ClassOf has their class. The package must not run cases, nor
// write to a golden or a state folder.
package past
