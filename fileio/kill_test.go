package fileio_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"muster/fileio"
	"muster/fileio/pooled"
	"muster/test/kits/enginetest"
)

var kills = flag.Int("kills", 51, "how often a process that writes files is killed")

// writesWord makes this test binary a process that writes files for ever.
const writesWord = "write-files"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == writesWord {
		if err := writeForEver(os.Args[2], enginetest.Durabilities()[os.Args[3]]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	os.Exit(m.Run())
}

const (
	killWriters = 8
	killNames   = 5 // per writer

	// killCapacity has room for all files of all writers, and as much for their replacements.
	killCapacity = killWriters * (1_300_000 + 900_000 + 100_000)
	killCache    = "cache/"
)

// killContent returns the nth content of a writer.
func killContent(who, n int) []byte {
	sizes := []int{10, 5_000, 50_000, 262_144, 900_000}
	return enginetest.Content(who*1000+n, sizes[n%len(sizes)])
}

func killName(who, n int) string { return fmt.Sprintf("%d/%d", who, n%killNames) }

// writeForEver prints each file before and after putting it.
func writeForEver(folder string, sync_ fileio.Sync) error {
	e, err := pooled.New(pooled.Options{Threads: 4, Light: 2})
	if err != nil {
		return err
	}
	// Beside them it writes files that are evicted all the time.
	s, err := fileio.Open(folder, e, fileio.Options{Sync: sync_, Capacity: killCapacity, Evict: []string{killCache}})
	if err != nil {
		return err
	}
	var (
		writers sync.WaitGroup
		mu      sync.Mutex
	)
	say := func(word string, who, n int) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf("%s %d %d\n", word, who, n)
	}
	for who := range killWriters {
		writers.Go(func() {
			for n := 0; ; n++ {
				data := killContent(who, n)
				say("begins", who, n)
				if _, err := s.Put(context.Background(), killName(who, n), bytes.NewReader(data), int64(len(data)), nil); err != nil {
					say("failed "+err.Error(), who, n)
					return
				}
				say("has", who, n)
				data = data[:min(len(data), 250_000)]
				if _, err := s.Put(context.Background(), fmt.Sprint(killCache, who, "-", n), bytes.NewReader(data), int64(len(data)), nil); err != nil {
					say("failed "+err.Error(), who, n)
					return
				}
			}
		})
	}
	writers.Wait()
	return errors.New("all have failed")
}

// However a process ends, the files that it acknowledged exist, whole. A file in progress
// exists whole or not at all. After reopening, the folder has no others.
func TestKilledWhileWriting(t *testing.T) {
	for durability := range enginetest.Durabilities() {
		t.Run(durability, func(t *testing.T) {
			n := *kills / 3
			if testing.Short() {
				n = 3
			}
			for i := range n {
				killOnce(t, durability, 10+7*i%200)
			}
		})
	}
}

func killOnce(t *testing.T, durability string, after int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	c := exec.CommandContext(t.Context(), self, writesWord, folder, durability)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// Possible contents of each name: the last acknowledged one and those begun later.
	possible := map[string][][]byte{}
	lines, seen := bufio.NewScanner(out), 0
	for lines.Scan() {
		var word string
		var who, n int
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %d", &word, &who, &n); err != nil {
			t.Errorf("the process printed %q", lines.Text())
		}
		name := killName(who, n)
		switch word {
		case "begins":
			if possible[name] == nil {
				possible[name] = [][]byte{nil}
			}
			possible[name] = append(possible[name], killContent(who, n))
		case "has":
			possible[name] = [][]byte{killContent(who, n)}
			if seen++; seen == after {
				_ = c.Process.Kill()
			}
		}
	}
	_ = c.Wait() // it was killed
	if seen < after {
		t.Fatalf("the process ended by itself after %d files", seen)
	}
	e, err := pooled.New(pooled.Options{Threads: 2, Light: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := enginetest.Open(t, e, folder, fileio.Options{Capacity: killCapacity, Evict: []string{killCache}})
	if kept := s.Stats().Kept; kept > killCapacity {
		t.Errorf("%d bytes are kept", kept)
	}
	for name, contents := range possible {
		checkOneOf(t, s, name, contents)
	}
	infos, _, err := s.List(t.Context(), "", "", fileio.ListMax)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if possible[info.Name] == nil && !strings.HasPrefix(info.Name, killCache) {
			t.Errorf("nobody wrote %s", info.Name)
		}
	}
}

func checkOneOf(t *testing.T, s *fileio.Store, name string, contents [][]byte) {
	t.Helper()
	got, err := enginetest.Get(t.Context(), s, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var sizes []string
	for _, want := range contents {
		if (want == nil) == (err != nil) && bytes.Equal(got, want) {
			return
		}
		sizes = append(sizes, fmt.Sprint(len(want)))
	}
	t.Errorf("%s has %d bytes, %v, want one of %s", name, len(got), err, strings.Join(sizes, ", "))
}
