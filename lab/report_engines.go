package lab

import (
	"fmt"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/probe"
)

// enginesSection reports the engines' times for file operations.
func (r view) enginesSection(o IOOptions) page.Section {
	t := page.Table{
		Caption: fmt.Sprintf("µs per file, for %s files that %d goroutines put into a store and then read back; and the system threads of the process",
			readable.Number(int64(o.Stored)), engineGoroutines),
		Columns: newColumns("engine"),
	}
	for _, name := range probe.Engines() {
		t.Rows = append(t.Rows, page.Row(name))
	}
	var pictures []plot.Chart
	for _, size := range fileSizes() {
		names := texts(probe.Engines(), func(name string) string { return engineName(name, size) })
		for i, unit := range []string{putUnit, getUnit, threadsUnit} {
			divisor := 1000.0
			if unit == threadsUnit {
				divisor = 1
			}
			for row, name := range names {
				t.Rows[row] = append(t.Rows[row], r.medianCell(name, unit, divisor))
			}
			if unit != threadsUnit {
				r.markBest(t.Rows, len(t.Columns)+i, unit, names)
			}
		}
		for _, job := range []struct{ verb, unit string }{{"put", putUnit}, {"get", getUnit}} {
			pictures = append(pictures, r.bars(fmt.Sprintf("Time to %s a file of %s bytes", job.verb, readable.Number(int64(size))), "µs per file",
				probe.Engines(), job.unit, 1000, func(engine string) string { return engineName(engine, size) })...)
		}
		t.Columns = append(t.Columns, newColumns("", fmt.Sprintf("%s bytes: put", readable.Number(int64(size))), "get", "threads")[1:]...)
	}
	return page.Section{
		Title: "Engines",
		Text: []string{
			fmt.Sprintf("These are the engines of package fileio. With direct each goroutine executes its own operations, and keeps a thread while it waits for the disk. The others have %d threads: pool in Go, cthreads in C, uring in the kernel.", engineThreads),
			"Each operation is a job of the engine, and nothing is flushed. On a disk that takes writes into memory at once, the figures are the cost of the handover. On a disk that blocks, they show the benefit of a bound: name a folder there with --dir.",
		},
		Tables: []page.Table{t}, Pictures: pictures,
	}
}
