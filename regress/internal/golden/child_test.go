package golden

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"muster/regress"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// childEnv holds the task of a child of the test binary, and its arguments.
const childEnv = "GOLDEN_TEST_CHILD"

// TestMain lets the test binary be its own victim: a child writes, and the parent kills it.
func TestMain(m *testing.M) {
	if do := os.Getenv(childEnv); do != "" {
		args := strings.Split(do, "\n")
		jobs := map[string]func([]string) error{
			"build": childBuild, "update": childUpdate, "hang": childHang,
			"nobody": childNobody, "full": childFull, "memory": childMemory,
			"copy": childCopy,
		}
		if err := jobs[args[0]](args[1:]); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is a running child: its lines come through out.
type child struct {
	*exec.Cmd
	out   *bufio.Scanner
	stdin io.Closer
}

func startChild(t *testing.T, attr *syscall.SysProcAttr, args ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), childEnv+"="+strings.Join(args, "\n"))
	c.Stderr = os.Stderr
	c.SysProcAttr = attr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		needed(t, fmt.Errorf("no process with such rights here: %w", err))
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return &child{c, bufio.NewScanner(out), in}
}

// lines returns up to n of the child's lines; fewer if it ends before.
func (c *child) lines(n int) []string {
	var all []string
	for len(all) < n && c.out.Scan() {
		all = append(all, c.out.Text())
	}
	return all
}

// rest returns all further lines and waits for the end.
func (c *child) rest() []string {
	all := c.lines(1 << 30)
	c.Wait()
	return all
}

// kill ends the child as a power cut would, and returns the lines that it wrote.
func (c *child) kill() []string {
	c.Process.Kill()
	return c.rest()
}

// needed skips a test that this machine does not allow, unless all is needed.
func needed(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// say prints an error of a store for the parent.
func say(what string, err error) {
	fmt.Println(what, regress.ClassOf(err), err)
}

// must ends a child if anything fails except the operation under test.
func must(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}
