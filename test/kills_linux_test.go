package test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// kills is the number of kills. make long asks for more.
var kills = flag.Int("kills", 20, "how often TestKills kills")

// killing holds the expected results of a run, however often parts of it are killed.
type killing struct {
	folder
	tool             string
	old, changed     string            // exports of the golden before and after
	verdicts         map[string]string // results of a check of the changed tool against the old golden
	took, acceptTook time.Duration     // durations of a run and of an accept without a kill
}

// prepare records the results of a run without a kill.
func prepare(t *testing.T) *killing {
	k := &killing{folder: newFolder(t)}
	for i := range 60 {
		k.write(fmt.Sprintf("src/%02d", i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 1+i*20), 0o644)
	}
	// the folder's name is in the command line of everything that the tool leaves behind
	k.tool = k.write("tool", "#!/bin/sh\ncase $2 in new) sed s/1/one/ <$1 >$1.out ;; *) cat <$1 >$1.out ;; esac\necho $1\n", 0o755)
	k.muster(0, "record", k.dir+"/src", "--golden", "old.golden", "--", k.tool, "{in}", "old")
	began := time.Now()
	k.muster(0, "record", "src", "--golden", "new.golden", "--", k.tool, "{in}", "new")
	k.took = time.Since(began)
	k.old, k.changed = k.export(k.dir, "old.golden"), k.export(k.dir, "new.golden")
	f := k.begin()
	k.verdicts = f.verdicts(f.muster(1, "check", k.dir+"/src", "--format", "json", "--verbose", "--", k.tool, "{in}", "new"))
	began = time.Now()
	f.muster(0, "accept", "--all")
	k.acceptTook = time.Since(began)
	return k
}

func (f folder) write(name, text string, mode fs.FileMode) (path string) {
	f.Helper()
	path = filepath.Join(f.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), mode)
	}
	if err != nil {
		f.Fatal(err)
	}
	return path
}

// export returns the whole content of a golden as one text.
func (k *killing) export(dir, golden string) string {
	k.Helper()
	to := k.TempDir()
	folder{k.T, dir}.muster(0, "export", "--golden", golden, to+"/x")
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(to), "x", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "x/golden.json" { // the command is in it
			return err
		}
		b, err := os.ReadFile(filepath.Join(to, path))
		fmt.Fprintf(&all, "%s\n%s\n", path, b)
		return err
	})
	if err != nil {
		k.Fatal(err)
	}
	return all.String()
}

// TestKills kills muster, one of its helpers or everything at random moments of record, check
// and accept. Then --resume, or the command again, must have the same results as without a
// kill. Until a new golden is complete the old one is whole.
func TestKills(t *testing.T) {
	long(t)
	k := prepare(t)
	seed := chosenSeed()
	t.Logf("seed %d, a run takes %v, an accept %v", seed, k.took, k.acceptTook)
	r := rand.New(rand.NewPCG(seed, 0))
	for left := *kills; left > 0; {
		for _, command := range []func(*rand.Rand) int{k.killRecord, k.killCheck, k.killAccept} {
			left -= command(r)
			if t.Failed() {
				return
			}
		}
	}
	k.nothingIsLeft()
}

// begin returns a new folder in which the old golden lies.
func (k *killing) begin() folder {
	f := newFolder(k.T)
	f.copy(k.dir+"/old.golden", "muster.golden")
	return f
}

func (f folder) copy(from, to string) {
	f.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		f.Fatal(err)
	}
	f.write(to, string(b), 0o644)
}

// killRecord returns the number of kills, as the others do.
func (k *killing) killRecord(r *rand.Rand) (times int) {
	f, args := k.begin(), []string{"record", k.dir + "/src", "--", k.tool, "{in}", "new"}
	for range 1 + r.IntN(3) {
		status, _ := k.killed(f, r, k.took, args)
		times++
		switch got := k.export(f.dir, "muster.golden"); {
		case got == k.changed: // it may be killed after its last action
		case got != k.old:
			k.Errorf("the golden of a record that was killed (status %d) is neither the old nor the new one", status)
		case status == 0:
			k.Error("a record that ended well left the old golden")
		}
		args = resuming(args)
	}
	f.muster(0, args...)
	if k.export(f.dir, "muster.golden") != k.changed {
		k.Error("what --resume records is not what one run records")
	}
	return times
}

func (k *killing) killCheck(r *rand.Rand) (times int) {
	f, args := k.begin(), []string{"check", k.dir + "/src", "--format", "json", "--verbose", "--", k.tool, "{in}", "new"}
	for range 1 + r.IntN(3) {
		// alive at the end, it has lost a helper or nothing, and reports the same
		if status, said := k.killed(f, r, k.took, args); status >= 0 && !maps.Equal(f.verdicts(said), k.verdicts) {
			k.Errorf("verdicts of a check whose helper was killed: %s", said)
		}
		times++
		args = resuming(args)
	}
	if got := f.verdicts(f.muster(1, args...)); !maps.Equal(got, k.verdicts) {
		k.Errorf("verdicts of a check that was killed and went on: %v", got)
	}
	if k.export(f.dir, "muster.golden") != k.old {
		k.Error("a check wrote to the golden")
	}
	return times
}

func resuming(args []string) []string {
	if args[1] == "--resume" {
		return args
	}
	return slices.Insert(slices.Clone(args), 1, "--resume")
}

func (k *killing) killAccept(r *rand.Rand) int {
	f := k.begin()
	f.muster(1, "check", k.dir+"/src", "--", k.tool, "{in}", "new")
	k.killed(f, r, k.acceptTook, []string{"accept", "--all"})
	switch got := k.accepted(f); got {
	case k.changed + "new":
		return 1
	case k.old + "old":
	default:
		k.Error("the golden of an accept that was killed is neither the old nor the new one")
	}
	f.muster(0, "accept", "--all")
	if k.accepted(f) != k.changed+"new" {
		k.Error("accept does not come to the new golden after one was killed")
	}
	return 1
}

// accepted returns the whole content of the golden with the last word of its command, which an
// accept changes too.
func (k *killing) accepted(f folder) string {
	text := string(f.muster(0, "golden", "textconv", "muster.golden"))
	first, _, _ := strings.Cut(text, "\n")
	return k.export(f.dir, "muster.golden") + first[strings.LastIndex(first, " ")+1:]
}

// killed runs muster, and kills a part of it after a random part of its usual time. It returns
// the exit status, -1 if muster itself was killed, and standard output.
func (k *killing) killed(f folder, r *rand.Rand, took time.Duration, args []string) (status int, stdout []byte) {
	k.Helper()
	path, err := program()
	if err != nil {
		k.Fatal(err)
	}
	moment, cancel := context.WithTimeout(k.Context(), time.Duration(r.Int64N(int64(took*11/10))))
	defer cancel()
	var out, said bytes.Buffer
	c := exec.CommandContext(moment, path, args...)
	c.Dir, c.Stdout, c.Stderr = f.dir, &out, &said
	// processes that are left alive hold the pipe of its messages
	c.WaitDelay = time.Minute
	what := r.IntN(3)
	c.Cancel = func() error {
		children := childrenOf(c.Process.Pid)
		switch {
		case what == 0 && len(children) > 0:
			victim := children[r.IntN(len(children))]
			return syscall.Kill(victim, syscall.SIGKILL)
		case what == 1:
			for _, pid := range children {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
			}
		}
		return c.Process.Kill()
	}
	err = c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, context.DeadlineExceeded) {
		k.Fatalf("%v\n%s", err, said.Bytes())
	}
	// a helper's death is not the case's fault, so the run ends as usual
	if status = c.ProcessState.ExitCode(); status > 1 {
		k.Errorf("muster %q ended with %d\n%s%s", args, status, out.Bytes(), said.Bytes())
	}
	return status, out.Bytes()
}

// childrenOf returns the helpers of a muster, and processes that will become helpers.
func childrenOf(pid int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	slices.Sort(children)
	return children
}

// nothingIsLeft requires that soon no process of the tool is alive.
func (k *killing) nothingIsLeft() {
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	patience := time.After(10 * time.Second)
	for {
		left := k.running()
		if left == "" {
			return
		}
		select {
		case <-every.C:
		case <-patience:
			k.Errorf("still running: %s", left)
			return
		}
	}
}

// running returns the command line of a process of the tool, or "".
func (k *killing) running() string {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if b, _ := os.ReadFile(path); bytes.Contains(b, []byte(k.tool)) {
			return string(bytes.ReplaceAll(b, []byte{0}, []byte(" ")))
		}
	}
	return ""
}
