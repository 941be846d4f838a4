// Command review shows how a program of another module uses muster as a library. It generates
// sources on a pool, records a command on them, checks a changed command, and puts the golden
// into a store of files.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"muster/fileio"
	"muster/fileio/pooled"
	"muster/pool"
	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/record"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "review:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "review-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sources := filepath.Join(dir, "sources")
	if err := generate(ctx, sources, 100); err != nil {
		return err
	}

	o, err := options(dir, sources)
	if err != nil {
		return err
	}
	// Reports go nowhere: this program reads the summaries.
	h := host.Host{Stdout: io.Discard, Stderr: io.Discard}
	o.Command.Words = []string{"sort", "{in}"}
	recorded, err := record.Run(ctx, o, h)
	if err != nil {
		return err
	}
	o.Command.Words = []string{"sort", "-u", "{in}"}
	checked, err := check.Run(ctx, o, h)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d cases recorded, %d changed, by %d cause\n", recorded.Recorded, checked.Verdicts[regress.Changed], checked.Groups)
	return keep(ctx, out, filepath.Join(dir, "store"), o.Store.Golden)
}

// generate writes n files. Every fourth has a line twice.
func generate(ctx context.Context, folder string, n int) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return pool.ForEach(ctx, 4, numbers, func(_ context.Context, i int) error {
		text := fmt.Sprintf("pear %d\napple\n", i)
		if i%4 == 0 {
			text += "apple\n"
		}
		return os.WriteFile(filepath.Join(folder, fmt.Sprintf("list%03d.txt", i)), []byte(text), 0o644)
	})
}

func options(dir, sources string) (regress.Options, error) {
	// Cases run in processes of this same program, which package regress takes over.
	self, err := os.Executable()
	if err != nil {
		return regress.Options{}, err
	}
	return regress.Options{
		Corpus: regress.Corpus{Path: sources},
		Limits: regress.Limits{Jobs: 2},
		Judge:  regress.CompareOptions{Repeat: 2, Retries: regress.RetriesDefault},
		Store:  regress.Store{Golden: filepath.Join(dir, "golden"), State: filepath.Join(dir, "state")},
		Report: regress.Report{Format: regress.Text, Quiet: true},
		Helper: []string{self},
	}, nil
}

// keep puts a file into a store, whose two threads write and flush it.
func keep(ctx context.Context, out io.Writer, folder, path string) error {
	engine, err := pooled.New(pooled.Options{Threads: 2})
	if err != nil {
		return err
	}
	store, err := fileio.Open(folder, engine, fileio.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	golden, err := os.Open(path)
	if err != nil {
		return err
	}
	defer golden.Close()
	if _, err := store.Put(ctx, "team/main.golden", golden, -1, nil); err != nil {
		return err
	}
	infos, _, err := store.List(ctx, "", "", fileio.ListMax)
	if err != nil {
		return err
	}
	for _, i := range infos {
		fmt.Fprintln(out, "kept", i.Name)
	}
	return nil
}
