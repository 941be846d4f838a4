// Command call measures the cost of a call into C. See ../README.md.
package main

// static __attribute__((noinline)) void empty(void) {}
import "C"

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

func main() {
	impl := flag.String("impl", "", "cgo or go")
	goroutines := flag.Int("goroutines", 1, "goroutines that call at the same time")
	ops := flag.Int("ops", 1_000_000, "calls in all; the remainder after an equal share for each goroutine is left out")
	flag.Parse()
	run := map[string]func(n int){"cgo": callC, "go": callGo}[*impl]
	if run == nil || *goroutines < 1 || *ops < *goroutines {
		fmt.Fprintln(os.Stderr, "unknown -impl, -goroutines below 1, or -ops below -goroutines")
		os.Exit(2)
	}
	all := func(each int) {
		var ended sync.WaitGroup
		for range *goroutines {
			ended.Go(func() { run(each) })
		}
		ended.Wait()
	}
	const warmUpMax = 100_000 // of all goroutines
	each := *ops / *goroutines
	all(min(each, max(1, warmUpMax / *goroutines)))
	cpu, began := cpuTime(), time.Now()
	all(each)
	wall := time.Since(began)
	cpu = cpuTime() - cpu
	n := float64(each * *goroutines)
	fmt.Printf("BenchmarkCall/impl=%s/goroutines=%d %.0f %.2f ns/op %.2f cpu-ns/op\n", *impl, *goroutines, n, float64(wall)/n, float64(cpu)/n)
}

func callC(n int) {
	for range n {
		C.empty()
	}
}

func callGo(n int) {
	for range n {
		empty()
	}
}

// empty costs as much as a call that stays in Go.
//
//go:noinline
func empty() {}

// cpuTime returns the user and system time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
