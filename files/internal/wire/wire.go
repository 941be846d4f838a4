// Package wire contains the messages of the file service and its generated client and server.
// "make wire" generates the Go code from files.proto. The code is checked in, so that a build
// needs only Go.
//
// The package must not be visible outside the folder files, whose own types are the API. Only
// files.proto is written by hand.
package wire
