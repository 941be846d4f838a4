package lab

import (
	"fmt"

	"muster/lab/page"
	"muster/lab/probe"
)

// enginesSection shows what executes operations on files.
func (r view) enginesSection(o IOOptions) page.Section {
	t := page.Table{
		Caption: fmt.Sprintf("µs for each of %s files that %d goroutines put into a store, and then get; and threads of the system that the process had",
			grouped(int64(o.Stored)), engineGoroutines),
		Columns: columns("engine"),
	}
	for _, name := range probe.Engines() {
		t.Rows = append(t.Rows, page.Row(name))
	}
	for _, size := range fileSizes() {
		var names []string
		for _, name := range probe.Engines() {
			names = append(names, engineName(name, size))
		}
		for i, unit := range []string{putUnit, getUnit, threads} {
			divisor := 1000.0
			if unit == threads {
				divisor = 1
			}
			for row, name := range names {
				t.Rows[row] = append(t.Rows[row], r.cell(name, unit, divisor))
			}
			if unit != threads {
				r.markBest(t.Rows, len(t.Columns)+i, unit, names)
			}
		}
		t.Columns = append(t.Columns, columns("", fmt.Sprintf("%s bytes: put", grouped(int64(size))), "get", "threads")[1:]...)
	}
	return page.Section{
		Title: "Engines",
		Text: []string{
			fmt.Sprintf("Package fileio's: direct has each goroutine do its operations, so that each that waits for the disk holds a thread; the others have %d threads, pool in Go, cthreads in C, and uring in the kernel.", engineThreads),
			"Each operation is a job of the engine's, and nothing is flushed. On a disk that takes writes into memory at once this is what handing over costs; what a bound is for is seen on one that blocks: name a folder there with --dir.",
		},
		Tables: []page.Table{t},
	}
}
