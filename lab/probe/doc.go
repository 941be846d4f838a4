// Package probe measures one question about concurrency, once, in this process: the cost of a
// task on a pool, an item through a channel, a goroutine, a file operation (alone, through an
// engine or through a service), a log line, a lock or a wake-up. [Exhaust] and the server of
// [Upload] run in a process of their own.
//
// For reliable figures, run each probe in a fresh process, many times, in turns with the
// probes that you compare it with.
//
// The package must not repeat, average, judge or print.
package probe
