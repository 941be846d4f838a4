package local

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// setInotify sets how many instances and watches the user of this namespace may
// have.
func setInotify(t *testing.T, what, most string) {
	t.Helper()
	must(t, os.WriteFile("/proc/sys/user/max_inotify_"+what, []byte(most), 0))
}

// TestBlind: without inotify everything is as with it.
func TestBlind(t *testing.T) {
	if !again(t, inUserNamespace) {
		return
	}
	setInotify(t, "instances", "0")
	for _, table := range [][]deed{edits(), links(), folders(), oddities()} {
		r := newRig(t, usual(t))
		if !r.crew.lanes[0].noInotify || !strings.Contains(fmt.Sprint(r.notes.said), "inotify") {
			r.Fatalf("there is inotify, or it was not told: %q", r.notes.said)
		}
		for _, d := range table {
			r.sub(d.name, d.check)
		}
	}
}

// TestBlindLater: a lane that lost inotify works without, says so once, and
// takes it up again when it may.
func TestBlindLater(t *testing.T) {
	if !again(t, inUserNamespace) {
		return
	}
	inBothModes(t, usual, func(r *rig) {
		const spoil = "cd ..; rm -r work" // its lane lays the folder anew
		for range 2 {
			setInotify(t, "instances", "0")
			r.run("one.c", spoil)
			for range 3 {
				r.want(r.run("sub/two.c", "echo n > n"), "exit 0", `n "n\n"`)
				r.wantClean("next.c")
			}
			if !r.crew.lanes[0].noInotify {
				r.Error("the lane has inotify")
			}
			setInotify(t, "instances", "100")
			r.wantClean("next.c")
			r.wantClean("next.c")
			if r.crew.lanes[0].noInotify {
				r.Error("the lane is still blind")
			}
		}
		r.wantToldOnce("inotify")
	})
}

// wantToldOnce wants one warning about that, and about nothing else.
func (r *rig) wantToldOnce(what string) {
	r.Helper()
	warnings := 0
	for _, said := range r.notes.said {
		if !strings.HasPrefix(said, "warning: ") {
			continue
		}
		if warnings++; !strings.Contains(said, what) && !strings.Contains(said, "without namespaces") {
			r.Errorf("told %q", said)
		}
	}
	if want := map[bool]int{false: 1, true: 2}[r.crew.o.plain]; warnings != want {
		r.Errorf("told %q", r.notes.said)
	}
}
