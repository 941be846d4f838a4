// Package faults runs the program on a disk that fails, and on one that loses power. The disk is in
// memory, and mounted with FUSE. The package only has tests.
package faults

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var (
	// make long asks for all.
	trials      = flag.Int("trials", 1, "how many places to try for each command and kind of fault; 0 = every call")
	serveRounds = flag.Int("serve-rounds", 2, "how often a file service loses its power, for each kind of --sync")
	only        = flag.String("only", "", "the only scene to play")
	seed        = flag.Uint64("seed", 0, "of the random choices; 0 = from the clock")
)

// random returns a source of random choices, and logs the seed that repeats them.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	chosen := *seed
	if chosen == 0 {
		chosen = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", chosen)
	return rand.New(rand.NewPCG(chosen, 0))
}

// built is the folder of the program, or "" if no test needed it.
var built string

// program builds muster once for all tests of this package and returns its path.
var program = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "muster-program-"); err != nil {
		return "", err
	}
	path = filepath.Join(built, "muster")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o", path, "muster/cmd/muster").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	m.Run()
	os.RemoveAll(built)
}
