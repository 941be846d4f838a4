package local

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// inOwnTmp runs a test in each mode in which a lane has a /tmp of its own.
func inOwnTmp(t *testing.T, test func(r *rig)) {
	t.Helper()
	inAllModes(t, func(r *rig) {
		if !r.crew.o.plain {
			test(r)
		}
	})
}

// TestOwnTmp: what a case leaves in /tmp is gone for the next one, whatever it is, with the same helper. What the lane
// itself has there stays, and the machine's /tmp is as before.
func TestOwnTmp(t *testing.T) {
	inOwnTmp(t, func(r *rig) {
		hidden, err := os.MkdirTemp(covered, "hidden-")
		must(r, err)
		defer os.RemoveAll(hidden)
		guard := "test ! -e " + hidden + " || exit 99; " // what follows must not reach the machine's /tmp
		const list = "ls -lA --time-style=+ /tmp /tmp/muster /tmp/muster/canonical; stat -c '%a %u' /tmp; id -u > /tmp/usable"
		before, helpers := r.run("one.c", list), r.crew.started.Load()
		for _, text := range []string{
			"echo x > /tmp/x",
			"mkdir -p /tmp/a/b/c; echo x > /tmp/a/b/c/d; chmod 0 /tmp/a/b /tmp/a",
			"cd /tmp; i=0; while [ $i -lt 10000 ]; do : > f$i; i=$((i+1)); done",
			"ln -s /etc /tmp/etc; ln -s /tmp /tmp/tmp; mkfifo /tmp/pipe; ln /tmp/pipe /tmp/pipe2",
			"mkdir /tmp/moved.1 /tmp/x; echo > /tmp/x/y",
			"chmod 500 /tmp",
			"chmod 0 /tmp",
			"rm -rf /tmp/* 2> /dev/null; exit 0",
			"mv /tmp/muster /tmp/x; mv /tmp/muster/canonical /tmp/x; rmdir /tmp/muster/canonical/lane; chmod 0 /tmp/muster; exit 0",
		} {
			result, err := r.try("one.c", guard+text)
			must(r, err)
			if got := result.Outcome.Ending.String(); got != "exit 0" {
				r.Errorf("%s: %s", text, got)
			}
			result.Release()
			r.want(r.run("next.c", list), before...)
			r.wantClean("next.c")
		}
		if more := r.crew.started.Load() - helpers; more > 1 && !underRace { // 10,000 files take it memory
			r.Errorf("%d helpers more", more)
		}
		for _, name := range []string{"x", "f1", "etc", "usable"} {
			if _, err := os.Lstat(filepath.Join(covered, name)); err == nil {
				r.Errorf("%s is outside", name)
			}
		}
	})
}

// TestOwnTmpLimits: files in /tmp count like those in TMPDIR.
func TestOwnTmpLimits(t *testing.T) {
	r := newRig(t, usual(t), func(o *Options) { o.OutputMax = 1 << 20 })
	for _, text := range []string{"exec yes > /tmp/f", "mkdir /tmp/x; exec yes > /tmp/x/f"} {
		r.want(r.run("one.c", text), "output-limit")
		r.wantClean("next.c")
	}
}

// TestOwnTmpMounted: what is mounted in /tmp during a case is taken away, and nothing behind it is touched.
// What the lane itself shows there stays.
func TestOwnTmpMounted(t *testing.T) {
	if !alone(t) {
		return
	}
	if _, err := osexec.LookPath("nsenter"); err != nil {
		needed(t, "no nsenter")
	}
	r := newRig(t, usual(t))
	before := r.run("one.c", "ls -A /tmp")
	behind, intact := canary(t)
	seen := shared(t) // beyond /tmp, where the helper sees it
	must(t, syscall.Mount(behind, seen, "", syscall.MS_BIND, ""))
	defer func() { must(t, syscall.Unmount(seen, 0)) }()
	for _, place := range []string{"/tmp/x", "/tmp", "/tmp/muster"} {
		p := newPipe(t)
		mounted := filepath.Join(filepath.Dir(p.path), "go")
		done := r.begin(t.Context(), "one.c", "mkdir /tmp/x; echo up > "+p.path+"; while [ ! -e "+mounted+" ]; do :; done")
		p.await(t)
		out, err := osexec.CommandContext(t.Context(), "nsenter", "-t", strconv.Itoa(r.helpers()[0]), "-m", "mount", "--bind", seen, place).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v %s", place, err, out)
		}
		must(t, os.WriteFile(mounted, nil, 0o600))
		got := <-done
		must(t, got.err)
		got.result.Release()
		r.want(r.run("next.c", "ls -A /tmp"), before...)
		r.wantClean("next.c")
		intact()
	}
}

// inTmpOfItsOwn makes /tmp a file system of this process, in the caller's namespace or one of its own. Files that it
// has, such as the helper, are reached only through open descriptors then.
func inTmpOfItsOwn(t *testing.T, options string, flags uintptr) bool {
	t.Helper()
	if !again(t, asRootOfItsOwn) {
		return false
	}
	t.Setenv("TMPDIR", shared(t))
	mountOver(t, covered, options, flags)
	return true
}

// TestVisibleEntries: a text makes visible what its paths go through.
func TestVisibleEntries(t *testing.T) {
	if !inTmpOfItsOwn(t, "", 0) {
		return
	}
	elsewhere := shared(t)
	for _, name := range []string{"a/f", "b b/f", "c/d/f", "it's/f", "x"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(covered, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(covered, name), nil, 0o755))
	}
	must(t, os.Symlink("a", filepath.Join(covered, "relative")))
	must(t, os.Symlink(covered+"/relative/../c", filepath.Join(covered, "absolute")))
	must(t, os.Symlink(elsewhere, filepath.Join(covered, "out")))
	must(t, os.Symlink(covered+"/absolute/d", filepath.Join(elsewhere, "in")))
	must(t, os.Symlink("loop", filepath.Join(covered, "loop")))
	for text, want := range map[string]string{
		"":                              "",
		"/tmp":                          "",
		"/tmp/":                         "",
		"/tmp/a":                        "a",
		"/tmp//a/./f":                   "a",
		"/tmp/a/none/f":                 "a",
		"/tmp/none":                     "",
		"src/tmp/a":                     "",
		"-I/tmp/a":                      "a",
		"--x=/tmp/a,/tmp/x":             "a x",
		"/none:/tmp/a:/tmp/b b/f":       "a",
		"/tmp/b b/f":                    "b b",
		"cat '/tmp/b b/f' > /tmp/x":     "b b x",
		"/tmp/relative/f":               "a relative",
		"/tmp/absolute/d/f":             "a absolute c relative",
		elsewhere + "/in/f":             "a absolute c relative",
		"/tmp/out/in/f":                 "a absolute c out relative",
		"/tmp/loop/f":                   "loop",
		"/tmp/c/../a/f":                 "a c",
		"cd /tmp/c && ./d":              "c",
		Canonical + "/work/a":           "",
		"#!/tmp/a/f":                    "",
		"/proc/self/root/tmp/a/f":       "a",
		"$(cat /tmp/x)":                 "x",
		"file:///tmp/x":                 "x",
		"/tmp/x/f":                      "x",
		"/tmp/../tmp/x":                 "x",
		"/var/tmp/../../tmp/a":          "a",
		strings.Repeat("/tmp/a:", 5000): "a",
	} {
		got, err := visibleEntries([]string{text})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%.60q: %q, %v; want %q", text, got, err, want)
		}
	}
	if got, err := visibleEntries([]string{"/tmp/a", "/tmp/x", "/tmp/a/f"}); err != nil || !slices.Equal(got, []string{"a", "x"}) {
		t.Errorf("%q, %v", got, err)
	}
}
