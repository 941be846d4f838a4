package main_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the program from outside: testdata/script/*.txtar, each a
// terminal session in a folder of its own. Beside the commands of package
// testscript they know these:
//
//	muster ARG...            the program, which must exit with 0
//	exits N COMMAND ARG...   any command, which must exit with N
//	signal INT COMMAND ...   interrupts the command (or ends it by KILL) once
//	                         one of its cases writes to the named pipe $READY
//	await COMMAND ...        goes on once a case has written there, while the
//	                         command runs till the end of the script
//	serve NAME ARG...        a file server that runs beside the script; $NAME is its address
//	end NAME TERM|KILL       ends it
//	objectstore NAME ...     an object store with the bucket kept, which may ignore conditions,
//	                         send too much or speak TLS; $NAME is its address, and its credentials are set
//	hosts NAME HOST ADDRESS  a proxy that has a server for a host
//	engine NAME [end]        an engine of the Remote Execution API, $NAME is its address; or its end
//	certificate NAME ...     makes NAME.pem and NAME.key for 127.0.0.1
//	mktar FILE ENTRY...      packs an archive, see archive_test.go
//	cmpjson FILE1 FILE2      fails unless the lines of FILE1 begin with the members of those of
//	                         FILE2. Figures that differ from run to run read ~. Lines of
//	                         causes are left out
//	needs NAME               skips where there is no such program, or no root, no cgo, or no
//	                         way to make a control group that limits processes. "needs shm"
//	                         skips if the script's own files are below /dev/shm, which it hides
//	terminal, shows, …       see terminalCommands
//
// Files that begin with #! are executable.
func TestScripts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("cases run on Linux only")
	}
	bin := build(t)
	contrib, err := filepath.Abs("../../contrib")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOTMPDIR", sharedTemp)
	commands := map[string]func(*testscript.TestScript, bool, []string){
		"muster": muster, "exits": exits, "signal": signal, "await": await,
		"mktar": mktar, "cmpjson": cmpjson, "needs": needs,
		"serve": serve, "end": end, "objectstore": objectstore, "hosts": hosts, "engine": engine, "certificate": certificate,
	}
	maps.Copy(commands, terminalCommands())
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			t.Cleanup(func() { _ = os.Remove(filepath.Dir(env.WorkDir)) }) // it stays, empty, if -run names scripts
			env.Setenv("PATH", bin+":"+env.Getenv("PATH"))
			env.Setenv("CONTRIB", contrib)
			env.Setenv("READY", filepath.Join(env.WorkDir, ".ready"))
			env.Setenv("NEW_USER", strconv.Itoa(1<<20+os.Getpid())) // a user who runs nothing else
			env.Setenv("MUSTER_REPEAT_AFTER", "0s")                 // few scripts show times
			env.Setenv("MUSTER_COST_CASES", "0")                    // or costs, which take a third of a check
			env.Setenv("GORACE", "atexit_sleep_ms=0")               // else each watched program ends a second late
			env.Values[testKey{}] = env.T()
			env.Values[serversKey{}] = map[string]*served{}
			env.Values[enginesKey{}] = map[string]*engineProcess{}
			env.Values[sittingsKey{}] = map[string]*sitting{}
			return executable(env.WorkDir)
		},
		Cmds: commands,
	})
}

// sharedTemp is where cases can write to files of a test. They cannot do that in /tmp.
const sharedTemp = "/var/tmp"

func sharedFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(sharedTemp, "muster-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// testKey is where a script's values hold its test.
type testKey struct{}

func testOf(ts *testscript.TestScript) testing.TB { return ts.Value(testKey{}).(testing.TB) }

// built is the folder of the program, or "" if no test needed it.
var built string

// program builds muster once for all tests of this package and returns its path. A user who
// cannot build names a program in MUSTER_TEST_PROGRAM.
var program = sync.OnceValues(func() (path string, err error) {
	if path = os.Getenv("MUSTER_TEST_PROGRAM"); path != "" {
		return path, nil
	}
	if built, err = os.MkdirTemp("", "muster-program-"); err != nil {
		return "", err
	}
	path = filepath.Join(built, "muster")
	args := []string{"build", "-o", path}
	if race {
		args = append(args, "-race")
	}
	out, err := exec.CommandContext(context.Background(), "go", append(args, ".")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	m.Run()
	os.RemoveAll(built)
}

// build returns a folder with the program. Each test has its own, so that it can recognise its processes.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path, err := program()
	if err == nil {
		err = os.Link(path, filepath.Join(dir, "muster"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// executable makes a test's scripts executable, because a txtar archive has no file modes.
func executable(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(text), "#!") {
			return err
		}
		return os.Chmod(path, 0o755)
	})
}

func muster(ts *testscript.TestScript, neg bool, args []string) {
	exits(ts, neg, append([]string{"0", "muster"}, args...))
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) && exit.Exited() {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, not %d", got, want)
	}
}

// needs skips a test whose tool is missing, or fails it if MUSTER_REQUIRE=all requires
// everything.
func needs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: needs name")
	}
	name := args[0]
	if name == "root" {
		if os.Geteuid() == 0 {
			return
		}
	} else if name == "cgo" {
		if os.Getenv("CGO_ENABLED") != "0" {
			return
		}
		testOf(ts).Skipf("no %s", name) // MUSTER_REQUIRE allows that
	} else if name == "norace" {
		if !race {
			return
		}
		testOf(ts).Skipf("the race detector watches") // a test without it is made, too
	} else if name == "shm" {
		if !strings.HasPrefix(ts.MkAbs("x"), "/dev/shm/") {
			return
		}
		const why = "the script hides /dev/shm, where its own files are: choose another TMPDIR"
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			ts.Fatalf(why)
		}
		testOf(ts).Skip(why)
	} else if name == "namespaces" {
		args := []string{"-U", "-r", "-m", "-p", "-f", "mount", "--make-rprivate", "/"}
		if exec.CommandContext(testOf(ts).Context(), "unshare", args...).Run() == nil {
			return
		}
		const why = "lanes have no namespaces here, and muster warns of that"
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			ts.Fatalf(why)
		}
		testOf(ts).Skip(why)
	} else if name == "pids-group" {
		if limitsProcesses() {
			return
		}
		testOf(ts).Skipf("no %s", name) // no package provides it
	} else if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		ts.Fatalf("no %s: scripts/install-test-tools, run as root, installs what tests need", name)
	}
	testOf(ts).Skipf("no %s", name)
}

// limitsProcesses reports whether a control group can limit processes here.
func limitsProcesses() bool {
	group := "/sys/fs/cgroup/pids"
	if _, err := os.Stat(group); err != nil {
		group = "/sys/fs/cgroup"
	}
	dir, err := os.MkdirTemp(group, "muster-test-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	_, err = os.Stat(dir + "/pids.max")
	return err == nil
}
