// Package reapi runs cases on an engine of the Remote Execution API, version 2.
//
// It must not decide which cases run, how often, or what an outcome means. Only this package
// and those below it know gRPC and the messages of that API.
package reapi
