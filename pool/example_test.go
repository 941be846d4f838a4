package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

func ExampleMap() {
	words := slices.Values([]string{"many", "jobs", "few", "threads"})
	upper := pool.Map(context.Background(), 3, words,
		func(_ context.Context, word string) (string, error) { return strings.ToUpper(word), nil })
	for word, err := range upper {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(word)
	}
	// Output:
	// MANY
	// JOBS
	// FEW
	// THREADS
}
