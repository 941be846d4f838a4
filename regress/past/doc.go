// Package past reads past runs: Runs lists them, Groups prints the causes of a run, Show a cause or a
// case, and Replay the events of a run. The functions whose names end in Completions are for the
// completions of a shell.
//
// Input: the beginning of a run's ID; "" is the last run. Output: a text or JSON on the standard output
// of the host. Error texts say what to do; regress.ClassOf returns the class of an error. The package
// must not run cases, nor write to a golden or a state folder.
package past
