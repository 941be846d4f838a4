package pool_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"muster/pool"
)

func Example() {
	var total atomic.Int64
	p := pool.New(4, func(n int) { total.Add(int64(n)) })
	for n := range 100 {
		p.Submit(n + 1)
	}
	p.Close()
	fmt.Println(total.Load())
	// Output: 5050
}

// Wait ends a round. The same workers serve the next one.
func ExamplePool_Wait() {
	var done atomic.Int64
	p := pool.New(2, func(string) { done.Add(1) })
	defer p.Close()
	for round := range 2 {
		p.SubmitN([]string{"a", "b", "c"})
		p.Wait()
		fmt.Println("after round", round+1, "done:", done.Load())
	}
	// Output:
	// after round 1 done: 3
	// after round 2 done: 6
}

// A server refuses requests that it has no place for.
func ExamplePool_TrySubmit() {
	gate := make(chan struct{})
	p := pool.New(1, func(string) { <-gate }, pool.Queue(1))
	accepted := 0
	for range 10 {
		if p.TrySubmit("request") {
			accepted++
		}
	}
	close(gate)
	p.Close()
	fmt.Println("refused some:", accepted < 10)
	// Output: refused some: true
}

// Tasks that submit tasks: a WaitGroup counts those that are not done, and a handler that finds
// the queue full does the work itself.
func ExamplePool_TrySubmit_subtasks() {
	var open sync.WaitGroup
	var leaves atomic.Int64
	var p *pool.Pool[int]
	var split func(depth int)
	split = func(depth int) {
		defer open.Done()
		if depth == 0 {
			leaves.Add(1)
			return
		}
		for range 2 {
			open.Add(1)
			if !p.TrySubmit(depth - 1) {
				split(depth - 1)
			}
		}
	}
	p = pool.New(4, split, pool.Queue(16))
	defer p.Close()
	open.Add(1)
	p.Submit(10)
	open.Wait()
	fmt.Println(leaves.Load(), "leaves")
	// Output: 1024 leaves
}

// Values that come from an iterator, until one of them fails.
func ExamplePool_SubmitContext() {
	ctx, cancel := context.WithCancelCause(context.Background())
	p := pool.New(4, func(name string) {
		if ctx.Err() == nil && name == "b.c" {
			cancel(errors.New(name + ": no such file"))
		}
	})
	for name := range strings.FieldsSeq("a.c b.c c.c") {
		if p.SubmitContext(ctx, name) != nil {
			break
		}
	}
	p.Close()
	fmt.Println(context.Cause(ctx))
	// Output: b.c: no such file
}

// All errors, and results in order: each item has a place of its own.
func ExampleForEach_all() {
	words := []string{"7", "x", "9", "y"}
	numbers, errs := make([]int, len(words)), make([]error, len(words))
	places := []int{0, 1, 2, 3}
	_ = pool.ForEach(context.Background(), 2, places, func(_ context.Context, i int) error {
		numbers[i], errs[i] = strconv.Atoi(words[i])
		return nil // the others go on
	})
	fmt.Println(numbers)
	fmt.Println(errors.Join(errs...))
	// Output:
	// [7 0 9 0]
	// strconv.Atoi: parsing "x": invalid syntax
	// strconv.Atoi: parsing "y": invalid syntax
}

func ExampleForEach() {
	err := pool.ForEach(context.Background(), 1, []string{"a.c", "b.c", "c.c"},
		func(_ context.Context, name string) error {
			if name == "b.c" {
				return errors.New(name + ": no such file")
			}
			fmt.Println("compiled", name)
			return nil
		})
	fmt.Println(err)
	// Output:
	// compiled a.c
	// b.c: no such file
}
