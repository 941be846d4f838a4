package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/lab"
)

// How many files are measured; the article renamed two million.
const (
	filesQuick, storedQuick, renamesQuick = 500, 500, 10_000
	filesFull, storedFull, renamesFull    = 20_000, 20_000, 2_000_000
)

func (p *program) labIO() *cobra.Command {
	var l labFlags
	o := lab.IOOptions{}
	c := &cobra.Command{
		Use:   "io [flags]",
		Short: "What lies around files: their operations, engines, logs, messages, C, locks, threads",
		Long: `Io measures operations on whole files, what executes them (each goroutine itself, a pool,
threads in C, io_uring), renaming into one folder or ten, lines of a log, messages as
protobuf and as JSON, calls into C, locks and wake-ups; and shows, in a process of its
own, how Go ends a program that needs more than 10,000 threads.
--full renames two million files, as an article did, and not 10,000.`,
		Example: `  muster lab io
  muster lab io --dir /mnt/slow --count 10 --html io.html`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Files, o.Stored, o.Renames = filesQuick, storedQuick, renamesQuick
			if l.full {
				o.Files, o.Stored, o.Renames = filesFull, storedFull, renamesFull
			}
			return p.measure(c.Context(), &l, &o.Options, labRun{
				func(ctx context.Context) (*lab.Results, error) { return lab.IO(ctx, o) },
				func(r *lab.Results) lab.Report { return lab.IOReport(r, o) },
			})
		},
	}
	l.add(c.Flags())
	l.addFull(c.Flags(), "20,000 files, and 2,000,000 that are renamed: some minutes")
	c.Flags().StringVar(&o.Dir, "dir", "", "write files below `DIR`, and take them away again (default: where the system has temporary files)")
	return c
}
