// Package faults runs the program on a disk whose calls fail, and on one that loses its power. It
// only has tests.
package faults

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var (
	// trials is how many calls of each command and kind of fault a test tries; make long asks for
	// all.
	trials      = flag.Int("trials", 1, "at how many calls of a command each kind of fault happens; 0 = at every one")
	serveRounds = flag.Int("serve-rounds", 2, "how often a file service loses its power, for each kind of --sync")
	only        = flag.String("only", "", "the only command that a test tries")
	seed        = flag.Uint64("seed", 0, "of random choices; 0 = by the clock")
)

func chosenSeed() uint64 {
	if *seed != 0 {
		return *seed
	}
	return uint64(time.Now().UnixNano())
}

// program builds muster once for all tests of this package and returns its path.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "muster-program-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "muster")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o", path, "muster/cmd/muster").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
}
