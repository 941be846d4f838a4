// Command crossing measures what lies between a file service and its files, apart from the
// files: the cost of a call into C, and of messages as protobuf and as JSON, by
// themselves and over a socket. See ../README.md for what the modes are.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	statusNoSuchMode = 8

	// Less than this says more about the start than about the rest.
	warmUpMax = 100_000
)

type options struct {
	impl, mode string
	goroutines int // in mode echo connections, each with one
	ops        int
	size       int // of a message's body
}

func main() {
	var o options
	flag.StringVar(&o.impl, "impl", "", "protobuf, json, cgo or go")
	flag.StringVar(&o.mode, "mode", "codec", "codec, echo or call")
	flag.IntVar(&o.goroutines, "goroutines", 1, "that do it at the same time; in mode echo connections")
	flag.IntVar(&o.ops, "ops", 1_000_000, "in all; what remains when each goroutine has done as many as the others is left out")
	flag.IntVar(&o.size, "size", 38, "bytes of a message's body")
	flag.Parse()
	known := []string{"protobuf", "json", "cgo", "go"}
	if !slices.Contains(known, o.impl) || o.goroutines < 1 || o.ops < o.goroutines || o.size < 0 {
		fmt.Fprintln(os.Stderr, "unknown -impl, -goroutines below 1, -ops below -goroutines, or -size below 0")
		os.Exit(2)
	}
	o.compete()
}

func (o *options) compete() {
	codec, crossing := codecs[o.impl], crossings[o.impl]
	switch {
	case o.mode == "codec" && codec != nil:
		o.measure(fmt.Sprintf("Codec/impl=%s/size=%d", o.impl, o.size), func(n int) { turnAround(codec, n, o.size) }, o.wire(codec))
	case o.mode == "echo" && codec != nil:
		e := newExchange(codec, o.goroutines, o.size)
		defer e.close()
		o.measureAll(fmt.Sprintf("Echo/impl=%s/size=%d", o.impl, o.size), e.echo, o.wire(codec))
	case o.mode == "call" && crossing != nil:
		o.measure("Call/impl="+o.impl, func(n int) {
			for range n {
				crossing()
			}
		}, "")
	default:
		os.Exit(statusNoSuchMode)
	}
}

// wire encodes the length of a message.
func (o *options) wire(codec codec) string {
	data, err := codec.encode(newMessage(1, o.size))
	must(err)
	return fmt.Sprintf(" %d wire-B", len(data))
}

func (o *options) measure(name string, run func(n int), more string) {
	o.measureAll(name, func(_, n int) { run(n) }, more)
}

// measureAll has every goroutine run once to warm up, then once by the clock, and prints
// the result.
func (o *options) measureAll(name string, run func(goroutine, n int), more string) {
	all := func(n int) {
		var ended sync.WaitGroup
		for i := range o.goroutines {
			ended.Go(func() { run(i, n) })
		}
		ended.Wait()
	}
	each := o.ops / o.goroutines
	all(min(each, max(1, warmUpMax/o.goroutines)))
	cpu, began := cpuTime(), time.Now()
	all(each)
	wall := time.Since(began)
	cpu = cpuTime() - cpu
	n := each * o.goroutines
	per := func(d time.Duration) float64 { return float64(d) / float64(n) }
	fmt.Printf("Benchmark%s/goroutines=%d %d %.2f ns/op %.2f cpu-ns/op%s\n", name, o.goroutines, n, per(wall), per(cpu), more)
}

// callGo is what a call costs that stays in Go and is not inlined.
//
//go:noinline
func callGo() {}

func cpuTime() time.Duration {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
