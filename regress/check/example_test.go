package check_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/record"
)

// Two files are recorded with sort, and checked with sort -u. Only the file that has a line twice
// differs.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "check-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	o, err := exampleOptions(dir)
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, quiet := context.Background(), host.Host{Stdout: io.Discard, Stderr: io.Discard}
	o.Command.Words = []string{"sort", "{in}"}
	if _, err := record.Run(ctx, o, quiet); err != nil {
		fmt.Println(err)
		return
	}
	o.Command.Words = []string{"sort", "-u", "{in}"}
	sum, err := check.Run(ctx, o, quiet)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("identical:", sum.Verdicts[regress.Identical])
	fmt.Println("changed:", sum.Verdicts[regress.Changed])
	fmt.Println("exit status:", sum.ExitStatus)
	// Output:
	// identical: 1
	// changed: 1
	// exit status: 1
}

// Compare runs both commands side by side, and needs no golden.
func ExampleCompare() {
	dir, err := os.MkdirTemp("", "check-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	o, err := exampleOptions(dir)
	if err != nil {
		fmt.Println(err)
		return
	}

	o.Command.Reference = []string{"sort", "{in}"}
	o.Command.Words = []string{"sort", "-r", "{in}"}
	sum, err := check.Compare(context.Background(), o, host.Host{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("changed:", sum.Verdicts[regress.Changed])
	// Output:
	// changed: 2
}

// exampleOptions makes a corpus of two files in dir.
func exampleOptions(dir string) (regress.Options, error) {
	sources := filepath.Join(dir, "sources")
	if err := os.Mkdir(sources, 0o755); err != nil {
		return regress.Options{}, err
	}
	for name, text := range map[string]string{"once.txt": "b\na\n", "twice.txt": "b\na\nb\n"} {
		if err := os.WriteFile(filepath.Join(sources, name), []byte(text), 0o644); err != nil {
			return regress.Options{}, err
		}
	}
	self, err := os.Executable() // runs the cases, in processes of its own
	return regress.Options{
		Corpus: regress.Corpus{Path: sources},
		Limits: regress.Limits{Jobs: 1},
		Judge:  regress.CompareOptions{Repeat: 2, Retries: regress.RetriesDefault},
		Store:  regress.Store{Golden: filepath.Join(dir, "golden"), State: filepath.Join(dir, "state")},
		Report: regress.Report{Format: regress.Text, Quiet: true},
		Helper: []string{self},
	}, err
}
