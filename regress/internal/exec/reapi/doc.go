// Package reapi runs cases on an engine of the Remote Execution API, version 2.
//
// It must not decide what runs, how often, or what an outcome means. It alone, with the
// rooms below it, knows gRPC and the messages of that API.
package reapi
