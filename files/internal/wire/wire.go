// Package wire has the messages of the file service, and what its server and its clients
// are made of: files.proto, and the Go code that "make wire" makes of it. What is made is
// kept beside it, so that a build needs nothing but Go.
//
// The package must not leave the folder files, whose own types are what others see, nor
// have anything written by hand but files.proto.
package wire
