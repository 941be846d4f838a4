// Command inserts measures goroutines that write rows to a database at the same time,
// each row a transaction of its own. See ../README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const warmUpMax = 1_000

type options struct {
	impl        string
	dsn         string
	goroutines  int
	rows        int
	connections int
}

// A table is where rows go. Its methods are for many goroutines at once.
type table interface {
	insert(ctx context.Context, row int) error
	count(ctx context.Context) (int, error)
	close(ctx context.Context) error // takes the table away
}

// open makes an empty table and all connections.
type open func(ctx context.Context, o *options) (table, error)

var contestants = map[string]open{"postgres": openPostgres, "sqlite": openSQLite}

func main() {
	var o options
	flag.StringVar(&o.impl, "impl", "", "postgres or sqlite")
	flag.StringVar(&o.dsn, "dsn", "", "where it is: a connection string of PostgreSQL, or the path of a file")
	flag.IntVar(&o.goroutines, "goroutines", 1, "that insert at the same time")
	flag.IntVar(&o.rows, "rows", 10_000, "in all")
	flag.IntVar(&o.connections, "connections", 0, "at most; 0 = one for each goroutine, or as many as the server allows when that is less: then goroutines wait for one another's")
	flag.Parse()
	begin := contestants[o.impl]
	if begin == nil || o.dsn == "" || o.goroutines < 1 || o.rows < 1 || o.connections < 0 {
		fmt.Fprintln(os.Stderr, "unknown -impl, no -dsn, or a number below its least")
		os.Exit(2)
	}
	if err := o.compete(context.Background(), begin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o *options) compete(ctx context.Context, begin open) error {
	to, err := begin(ctx, o)
	if err != nil {
		return err
	}
	warmUp := min(o.rows/4, warmUpMax)
	if err := o.insertAll(ctx, to, 0, warmUp); err != nil {
		return err
	}
	cpu, began := cpuTime(), time.Now()
	if err := o.insertAll(ctx, to, warmUp, o.rows); err != nil {
		return err
	}
	wall := time.Since(began)
	cpu = cpuTime() - cpu
	resident := residentBytes()
	switch n, err := to.count(ctx); {
	case err != nil:
		return err
	case n != warmUp+o.rows:
		return fmt.Errorf("%d rows are there of %d", n, warmUp+o.rows)
	}
	each := func(d time.Duration) float64 { return float64(d) / float64(o.rows) }
	fmt.Printf("BenchmarkInsert/impl=%s/goroutines=%d %d %.0f ns/op %.0f cpu-ns/op %.1f rows/s %d rss-B %d connections\n",
		o.impl, o.goroutines, o.rows, each(wall), each(cpu), float64(o.rows)/wall.Seconds(), resident, o.connections)
	return to.close(ctx)
}

// insertAll shares n rows among the goroutines, the first row being from.
func (o *options) insertAll(ctx context.Context, to table, from, n int) error {
	var all sync.WaitGroup
	failed := make(chan error, o.goroutines)
	for g := range o.goroutines {
		all.Go(func() {
			for row := from + g; row < from+n; row += o.goroutines {
				if err := to.insert(ctx, row); err != nil {
					failed <- fmt.Errorf("row %d: %w", row, err)
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}

// content is a row's, of the length of a line in a log.
func content(row int) string {
	return fmt.Sprintf("%08d %s", row, strings.Repeat("x", 91))
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentBytes is this client's memory without the server's; 0 = unknown.
func residentBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(fields[1], 10, 64)
	return pages * uint64(os.Getpagesize())
}
