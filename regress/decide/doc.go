// Package decide accepts the differences of a past check into its golden: Accept at once, Review one
// by one, on a terminal or in a browser.
//
// Data flows one way: a selection of causes and cases, the effect of accepting it, one transaction
// on the golden. Output: the changed golden, and a text on the standard output of the host. Error texts
// say what to do; regress.ClassOf returns the class of an error. While one command writes to a golden
// or a state folder, a second one fails with an error of class Input.
//
// The package must not run cases or compare outcomes.
package decide
