// Package decide accepts the differences of a past check into its golden: Accept at once, Review one
// by one, on a terminal or in a browser.
//
// Data flows one way: a selection of causes and cases, the effect of accepting it, one transaction
// on the golden. Errors say what to do; regress.ClassOf has their class. Two commands that write to
// one golden or state folder exclude each other. The package must not run cases or compare outcomes.
package decide
