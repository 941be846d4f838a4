// Package goldens does what is done with goldens as wholes: it describes one, checks all
// of one, prints one as text, and merges several. What changes the file of one golden in
// place is package golden's.
//
// It must not run cases or judge outcomes.
package goldens
