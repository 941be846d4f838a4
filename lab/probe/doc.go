// Package probe measures single questions about concurrency, each once, in this process
// ([Exhaust], and the server of [Upload], in one of its own): what a task costs that is
// handed to a pool, an item that goes through a channel, a goroutine, an operation on a
// file, alone or through an engine or a service, a line of a log, a lock, a wake-up.
// Whoever wants figures that mean something runs a probe in a process of its own, many
// times and in turns with what it is compared with.
//
// The package must not repeat, average or judge, nor print.
package probe
