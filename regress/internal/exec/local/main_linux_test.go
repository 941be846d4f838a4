package local

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	_ "muster/regress/lane" // the tests are their own helper
)

// TestMain runs the tests, or one of the tools that the tests use as commands:
// the test program is its own helper, its own tools and, in other
// circumstances, its own child (again_linux_test.go).
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "tool" {
		// Not os.Exit: under the race detector that sleeps for a second.
		syscall.Exit(runTool(os.Args[2], os.Args[3:]))
	}
	m.Run()
	os.RemoveAll(shimFolder)
}

func runTool(name string, args []string) int {
	t, ok := tools[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no tool", name)
		return 99
	}
	if err := t(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 98
	}
	return 0
}
