// Package probe measures one question about concurrency, once, in this process. Questions are
// the cost of a task on a pool, an item through a channel, a goroutine, a file operation, a
// log line, a lock or a wake-up. File operations run alone, through an engine or through a
// service. [Exhaust] and the server of [Upload] run in a process of their own.
//
// For reliable figures, run each probe in a fresh process, many times, in turns with others.
// The package must not repeat, average, judge or print.
package probe
