package local

import (
	"fmt"
	"muster/regress"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputLimit: whatever a case floods ends it, what is kept is within the
// limit, and the lane is as before.
func TestOutputLimit(t *testing.T) {
	const limit = 1 << 20
	floods := map[string]string{
		"stdout":            "exec yes",
		"stderr":            "exec yes >&2",
		"a file":            "exec yes > f",
		"a file, ended":     "head -c 3000000 /dev/zero > f",
		"a header":          "exec yes >> HDR_a.h",
		"a new folder":      "mkdir -p x/y; exec yes > x/y/f",
		"home":              "exec yes > $HOME/f",
		"a folder in tmp":   "mkdir $TMPDIR/x; exec yes > $TMPDIR/x/f",
		"many files":        self("many", "20", "100000"),
		"the sum":           "head -c 600000 /dev/zero; head -c 600000 /dev/zero >&2",
		"streams and files": "head -c 600000 /dev/zero; head -c 600000 /dev/zero > f",
		"a sparse file":     "truncate -s 1T f",
		"sparse, waiting":   "truncate -s 1T f; sleep 86400",
		"a sparse header":   "truncate -s 1T HDR_a.h",
		"sparse output":     "truncate -s 1T /dev/stdout; sleep 86400",
		"one byte too many": fmt.Sprintf("head -c %d /dev/zero", limit+1),
	}
	inBothModes(t, usual, func(r *rig) {
		for name, text := range floods {
			r.sub(name, func(r *rig) {
				result, err := r.try("one.c", text)
				must(r, err)
				defer result.Release()
				if got := result.Outcome.Ending.Kind; got != regress.OutputLimit {
					r.Errorf("ended by %v", got)
				}
				kept := int64(0)
				for _, p := range result.Outcome.Parts {
					kept += int64(len(r.content(result, p)))
				}
				if kept > limit {
					r.Errorf("%d bytes were kept", kept)
				}
				r.wantClean("next.c")
			})
		}
		r.want(r.run("one.c", fmt.Sprintf("head -c %d /dev/zero; head -c %d /dev/zero > f", limit/2, limit/2)),
			"exit 0", "stdout "+zeros(limit/2), "f "+zeros(limit/2))
	}, func(o *Options) { o.OutputMax = limit })
}

// TestLinksForHomeAndTmp: if a case replaces home and tmp by links, the files behind them do not count towards the
// output limit, and folders there keep their permissions.
func TestLinksForHomeAndTmp(t *testing.T) {
	outside := t.TempDir()
	inner := filepath.Join(outside, "inner")
	must(t, os.WriteFile(filepath.Join(outside, "large"), make([]byte, 1<<20), 0o600))
	must(t, os.Mkdir(inner, 0o500))
	links := fmt.Sprintf("mkdir $HOME/x; rm -r $HOME $TMPDIR; ln -s %s $HOME; ln -s %[1]s $TMPDIR; ", outside)
	inBothModes(t, usual, func(r *rig) {
		r.want(r.run("one.c", links+"exec "+self("burn", "300")), "exit 0")
		r.wantClean("next.c")
	}, func(o *Options) { o.OutputMax = 1 << 19 })
	if info, err := os.Stat(inner); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestModesStayWhileACaseRuns: to add up what a case wrote, no folder of it gets another mode.
func TestModesStayWhileACaseRuns(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		r.want(r.run("one.c", "mkdir -m 500 $HOME/x $TMPDIR/x; "+self("burn", "300")+"; stat -c %a $HOME/x $TMPDIR/x"), "exit 0", `stdout "500\n500\n"`)
		r.wantClean("next.c")
	})
}

func TestMemoryLimit(t *testing.T) {
	hogs := map[string]string{
		"one process":     "exec " + self("allocate", "300", "wait"),
		"one that ended":  "exec " + self("allocate", "300"),
		"a child":         self("allocate", "300", "wait") + "; true",
		"all together":    strings.Repeat(self("allocate", "40", "wait")+" & ", 4) + "wait",
		"a daemon of its": "(setsid " + self("allocate", "300", "wait") + " &) & while :; do :; done",
	}
	inBothModes(t, usual, func(r *rig) {
		for name, text := range hogs {
			if got := r.run("one.c", text); got[0] != "out-of-memory" {
				r.Errorf("%s: %s", name, got)
			}
			r.wantClean("next.c")
		}
		r.want(r.run("one.c", "exec "+self("allocate", "10")), "exit 0")
	}, func(o *Options) { o.MemoryMax = 100 << 20 })
}

// TestMemoryBelowFloor: a limit that the helper itself is past is no case's
// fault, however often and long it runs; what is more than the floor still is.
func TestMemoryBelowFloor(t *testing.T) {
	for _, limit := range []int64{1, 1 << 20} {
		inBothModes(t, usual, func(r *rig) {
			for range 70 { // the helper grows a little with the first ones
				r.want(r.run("one.c", "exit 0"), "exit 0")
			}
			r.want(r.run("one.c", "echo o; echo n > n; exec sleep 0.1"), "exit 0", `stdout "o\n"`, `n "n\n"`)
			for _, hog := range []string{self("allocate", "50"), self("allocate", "50", "wait")} {
				if got := r.run("one.c", "exec "+hog); got[0] != "out-of-memory" {
					r.Errorf("a limit of %d: %q gave %s", limit, hog, got)
				}
			}
		}, func(o *Options) { o.MemoryMax = limit })
	}
}
