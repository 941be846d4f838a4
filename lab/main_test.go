package lab_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/lab"
)

// Arguments that turn the test binary into a probe, or into a fake probe.
const (
	probeWord = "serve-as-probe"
	fakeWord  = "serve-as-fake"
)

func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == probeWord:
		err = lab.Probe(context.Background(), os.Args[2:], os.Stdin, os.Stdout)
	case len(os.Args) > 2 && os.Args[1] == fakeWord:
		err = fakes[os.Args[2]](os.Args[3:])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// options returns options for count rounds with real probes and without contestants.
func options(t *testing.T, count int) lab.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return lab.Options{Count: count, Probe: []string{self, probeWord}, Cache: cache(t), Peers: []string{}, Version: "test"}
}

// fakeOptions returns options whose probes are one of the fakes.
func fakeOptions(t *testing.T, fake string, count int) lab.Options {
	t.Helper()
	o := options(t, count)
	o.Probe = []string{o.Probe[0], fakeWord, fake}
	return o
}

// cache returns the folder that keeps contestants between test runs. Package native's tests
// use the same folder.
func cache(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MUSTER_TEST_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(user, "muster-test")
	}
	return filepath.Join(dir, "contestants")
}

// hangs is the variable that names a pipe. An endless process writes to the pipe when it has
// started. The pipe stays open as long as the process or its child lives.
const hangs = "MUSTER_TEST_HANGS"

var fakes = map[string]func(args []string) error{
	"whole": func(args []string) error { return printLine(args, 150, 150) },
	// One processor works instead of two, or the compiler removed the work.
	"one-core": func(args []string) error { return printLine(args, 1000, 1001) },
	"elided":   func(args []string) error { return printLine(args, 0.001, 0.001) },

	"make": func(args []string) error {
		if args[0] == "make" {
			return lab.Probe(context.Background(), args, os.Stdin, os.Stdout)
		}
		return printLine(args, 123.4, 125.6)
	},

	"uploads": func(args []string) error {
		if args[0] == "upload" || args[0] == "serve" {
			return lab.Probe(context.Background(), args, os.Stdin, os.Stdout)
		}
		return printLine(args, 123.4, 125.6)
	},
	"no-uploads": func(args []string) error {
		if args[0] == "upload" {
			return errors.New("no room")
		}
		return printLine(args, 123.4, 125.6)
	},

	"nothing": func([]string) error { return nil },
	"half":    func([]string) error { _, err := fmt.Print("BenchmarkX 1 2"); return err },
	"spaces":  func([]string) error { _, err := fmt.Println("BenchmarkX of this 1 2 ns/op"); return err },
	"nan":     func([]string) error { _, err := fmt.Println("BenchmarkX 1 NaN ns/op"); return err },
	"none":    func([]string) error { _, err := fmt.Println("BenchmarkX 0 1 ns/op"); return err },
	"usage": func([]string) error {
		fmt.Fprintln(os.Stderr, "no flag -jobs\n\tat stack 1\n\tat stack 2")
		os.Exit(2)
		return nil
	},
	"no-such-mode": func([]string) error { os.Exit(8); return nil },
	"deadlock":     func([]string) error { os.Exit(7); return nil },
	"no-more":      func([]string) error { os.Exit(9); return nil },
	"flood": func([]string) error {
		for range 1000 {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 64<<10)); err != nil {
				return err
			}
			fmt.Fprint(os.Stderr, strings.Repeat("y", 64<<10))
		}
		return nil
	},
	"hang": func([]string) error {
		pipe, err := os.OpenFile(os.Getenv(hangs), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		child := exec.CommandContext(context.Background(), "sleep", "3600")
		child.ExtraFiles = []*os.File{pipe}
		if err := child.Start(); err != nil {
			return err
		}
		fmt.Fprintln(pipe, "begun")
		return child.Wait()
	},
}

// printLine prints a line with every unit that reports use.
func printLine(args []string, ns, cpu float64) error {
	if slices.Contains(args, "-gate") {
		fmt.Println("ready")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
	}
	line := fmt.Sprintf("BenchmarkFake %d %g ns/op %g cpu-ns/op", operations(args), ns, cpu)
	for i, unit := range strings.Fields("threads rss-B/op stack-B/op sys-B/op s/portion create-ns/op read-ns/op stat-ns/op rename-ns/op remove-ns/op put-ns/op get-ns/op wire-B") {
		line += fmt.Sprintf(" %d %s", 1000*(i+1), unit)
	}
	_, err := fmt.Println(line)
	return err
}

// operations returns the requested number of operations.
func operations(args []string) int {
	var o struct{ Tasks, Items, Calls, Files, Lines, Pairs, Passes, Requests, Goroutines int }
	if i := slices.Index(args, "-options"); i >= 0 && i+1 < len(args) {
		_ = json.Unmarshal([]byte(args[i+1]), &o) // the questions without any of these have one operation
	}
	return cmp.Or(o.Tasks, o.Items, o.Calls, o.Files, o.Lines, o.Pairs, o.Passes, o.Requests, o.Goroutines, 1)
}

// scriptedOptions returns options whose probes always print the same line. A shell starts
// faster than a test binary.
func scriptedOptions(t *testing.T, count int) lab.Options {
	t.Helper()
	o := options(t, count)
	o.Probe = []string{"sh", "-c", "echo BenchmarkX 1000 123.4 ns/op 125.6 cpu-ns/op"}
	return o
}

// tinyDispatch, and the functions below, return the smallest options of each question.
func tinyDispatch(o lab.Options) lab.DispatchOptions {
	return lab.DispatchOptions{Options: o, Jobs: 2, Tasks: []int{1000}, Procs: []int{1}}
}

func tinyChannel(o lab.Options) lab.ChannelOptions {
	return lab.ChannelOptions{Options: o, Procs: []int{1, 2}, Cycles: []int{0, 10}, Items: 100_000, Processes: 2}
}

func tinySpawn(o lab.Options) lab.SpawnOptions {
	return lab.SpawnOptions{Options: o, Work: []int{1, 100}, Goroutines: []int{10, 100}, Procs: []int{1, 2}}
}

func tinyIO(t *testing.T, o lab.Options) lab.IOOptions {
	return lab.IOOptions{Options: o, Dir: t.TempDir(), Files: 10, Stored: 20, Renames: 20}
}

// countSamples counts the measurements of each benchmark.
func countSamples(r *lab.Results) map[string]int {
	times := map[string]int{}
	for _, s := range r.Samples {
		times[s.Name]++
	}
	return times
}

// measuredNames lists the benchmarks of a journal in the order of measurement.
func measuredNames(t *testing.T, journal string) (names []string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(journal))
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "Benchmark"); ok {
			name, _, _ = strings.Cut(name, " ")
			names = append(names, name)
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return names
}
