// Command inserts measures goroutines that write rows to a PostgreSQL server at the same time,
// each row a transaction of its own. See ../README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const warmUpMax = 1_000

func main() {
	_ = flag.String("impl", "postgres", "postgres")
	dir := flag.String("dir", "", "an empty folder, for the server's files")
	goroutines := flag.Int("goroutines", 1, "goroutines that insert at the same time")
	rows := flag.Int("rows", 10_000, "rows in all")
	flag.Parse()
	if *dir == "" || *goroutines < 1 || *rows < 1 {
		fmt.Fprintln(os.Stderr, "no -dir, or a number below 1")
		os.Exit(2)
	}
	if err := compete(context.Background(), *dir, *goroutines, *rows); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compete(ctx context.Context, dir string, goroutines, rows int) error {
	s, err := startServer(ctx, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	// More goroutines than connections wait for one another's.
	connections := min(goroutines, connectionsMax)
	to, err := openTable(ctx, s.dsn, connections)
	if err != nil {
		return err
	}
	defer to.Close()
	warmUp := min(rows/4, warmUpMax)
	if err := insertAll(ctx, to, goroutines, 0, warmUp); err != nil {
		return err
	}
	cpu, began := cpuTime(), time.Now()
	if err := insertAll(ctx, to, goroutines, warmUp, rows); err != nil {
		return err
	}
	wall := time.Since(began)
	cpu = cpuTime() - cpu
	resident := residentBytes()
	n := 0
	if err := to.QueryRow(ctx, "SELECT count(*) FROM inserts").Scan(&n); err != nil || n != warmUp+rows {
		return fmt.Errorf("%d rows are there of %d: %w", n, warmUp+rows, err)
	}
	each := func(d time.Duration) float64 { return float64(d) / float64(rows) }
	_, err = fmt.Printf("BenchmarkInsert/impl=postgres/goroutines=%d %d %.0f ns/op %.0f cpu-ns/op %d rss-B %d connections\n",
		goroutines, rows, each(wall), each(cpu), resident, connections)
	return err
}

// openTable creates the table, and opens all connections before the clock starts.
func openTable(ctx context.Context, dsn string, connections int) (*pgxpool.Pool, error) {
	to, err := pgxpool.New(ctx, fmt.Sprintf("%s pool_max_conns=%d", dsn, connections))
	if err != nil {
		return nil, err
	}
	if _, err := to.Exec(ctx, "CREATE TABLE inserts (id bigint PRIMARY KEY, content text NOT NULL)"); err != nil {
		return nil, err
	}
	for range connections {
		c, err := to.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		defer c.Release()
	}
	return to, nil
}

// insertAll inserts n rows from row from on. The goroutines share them. Each row is a transaction.
func insertAll(ctx context.Context, to *pgxpool.Pool, goroutines, from, n int) error {
	var all sync.WaitGroup
	failed := make(chan error, goroutines)
	for g := range goroutines {
		all.Go(func() {
			for row := from + g; row < from+n; row += goroutines {
				content := fmt.Sprintf("%08d %s", row, strings.Repeat("x", 91)) // as long as a line of a log
				if _, err := to.Exec(ctx, "INSERT INTO inserts (id, content) VALUES ($1, $2)", row, content); err != nil {
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

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentBytes returns the memory of this process, without the server's; 0 = unknown.
func residentBytes() uint64 {
	text, _ := os.ReadFile("/proc/self/statm")
	var all, pages uint64
	_, _ = fmt.Sscan(string(text), &all, &pages)
	return pages * uint64(os.Getpagesize())
}
