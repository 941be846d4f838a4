// Package wholegolden works on whole goldens: it describes, checks, prints and merges them.
// Package golden changes the file of one golden in place.
//
// It must not run cases or judge outcomes.
package wholegolden
