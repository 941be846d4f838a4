// Package job turns the options of a command into a Job. Options may be missing or contradict each
// other. Resolve fills missing ones from the golden, or from the past run that is repeated. It returns
// an error for combinations without meaning. A Job is complete, and does not change afterwards.
//
// The package also defines which settings a golden keeps, and how options are written on a command
// line and in run.json. It must not open a file, start anything, or report.
package job
