// Package wholegolden does what needs every record of a golden: it describes, checks, prints and merges
// goldens. Package golden reads and changes single records. Package goldens is the public face of both.
//
// It must not run cases or judge outcomes.
package wholegolden
