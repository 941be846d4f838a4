package golden

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"muster/regress/internal/outcome"
)

// childMemory builds a store of args[1] MiB at args[0], from two goroutines. Two outputs have a
// quarter of the size each, the others 64 KiB.
func childMemory(args []string) error {
	mib, err := strconv.Atoi(args[1])
	must(err)
	w, err := Create(args[0], Meta{})
	must(err)
	var wg sync.WaitGroup
	for lane := range 2 {
		wg.Go(func() {
			must(putStream(w, uint64(lane), int64(mib)<<18))
			for i := range mib << 2 {
				must(putStream(w, uint64(i<<1+lane+2), 64<<10))
			}
		})
	}
	wg.Wait()
	must(w.Finish())
	return printPeak()
}

// putStream puts a case whose one output is never in memory as a whole.
func putStream(w *Writer, seed uint64, size int64) error {
	content := func() io.Reader { return io.LimitReader(&counter{seed: seed}, size) }
	h := outcome.Part{Size: size}
	d, err := digestOfStream(content())
	if err != nil {
		return err
	}
	h.Digest = d
	h.Place, h.Path = outcome.File, "out"
	r := Record{Name: fmt.Sprintf("case%d", seed), Outcome: outcome.Outcome{Parts: []outcome.Part{h}}}
	return w.Put(context.Background(), r, func(outcome.Part) (io.ReadCloser, error) { return io.NopCloser(content()), nil })
}

// counter reads as numbers, other ones for each seed.
type counter struct {
	seed, n uint64
	block   [4096]byte
	rest    []byte
}

func (c *counter) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		c.rest = c.block[:0]
		for range len(c.block) / 8 {
			c.n++
			c.rest = binary.LittleEndian.AppendUint64(c.rest, c.seed<<40|c.n*0x9e3779b97f4a7c15)
		}
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func printPeak() error {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if f := strings.Fields(lines.Text()); f[0] == "VmHWM:" {
			fmt.Println(f[1])
		}
	}
	return nil
}

// The memory of building a store does not depend on its size, nor on that of
// a single output.
func TestMemoryStaysFlat(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system has no /proc to ask")
	}
	mib := 512
	if testing.Short() {
		mib = 128
	}
	lines := startChild(t, nil, "memory", filepath.Join(t.TempDir(), "g"), strconv.Itoa(mib)).rest()
	if len(lines) != 1 {
		t.Fatalf("the child says %q", lines)
	}
	kib, err := strconv.Atoi(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("building %d MiB took %d MiB", mib, kib>>10)
	if kib > 100<<10 && !raceDetector() {
		t.Errorf("peak memory %d KiB, more than 100 MiB", kib)
	}
}

func digestOfStream(r io.Reader) (outcome.Digest, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return outcome.Digest(h.Sum(nil)), err
}

// raceDetector reports whether this binary has it, which multiplies memory.
func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
