package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/lab"
)

// Numbers of files. The article renamed two million.
const (
	filesQuick, storedQuick, renamesQuick = 500, 500, 10_000
	filesFull, storedFull, renamesFull    = 20_000, 20_000, 2_000_000
)

func (p *program) labIO() *cobra.Command {
	var l labFlags
	o := lab.IOOptions{}
	c := &cobra.Command{
		Use:   "io [flags]",
		Short: "Measure files, engines, logs, messages, C calls, locks and threads",
		Long: `Io measures operations on whole files, and the engines that execute them: goroutines
themselves, a pool, threads in C, and io_uring. It measures renaming into one folder or
ten, log lines, messages as protobuf and JSON, calls into C, locks and wake-ups. In a
process of its own it shows how Go ends a program that needs more than 10,000 threads.
--full renames two million files, as an article did, instead of 10,000.`,
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
	l.addFull(c.Flags(), "use 20,000 files, and rename 2,000,000; takes some minutes")
	c.Flags().StringVar(&o.Dir, "dir", "", "write test files below `DIR`, and remove them (default: the system's folder for temporary files)")
	return c
}
