package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// requireMount skips a test if -short is given, and where this process may not mount. There it fails if
// MUSTER_REQUIRE=all requires everything.
func requireMount(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
	detachDead()
	_, server, err := mountAt(t.TempDir(), newDisk())
	if err == nil {
		err = server.Unmount()
	}
	if err == nil {
		return
	}
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("root can mount a disk in a process, if there is /dev/fuse: %v", err)
	}
	t.Skipf("only root can mount a disk in a process, if there is /dev/fuse: %v", err)
}

// TestFaults makes a call of each command fail, do half of its work, or wait. Afterwards the golden is
// the old one or the new one, whole, the command has said which, and the next ones work. After half a
// call or a wait the command succeeds.
func TestFaults(t *testing.T) {
	requireMount(t)
	s, r := newStage(t), random(t)
	for _, c := range s.scenes() {
		for _, f := range []fault{{kind: damaged}, {kind: damaged, stays: true}, {kind: full}, {kind: full, stays: true}, {kind: short}, {kind: slow}} {
			s.sweep(c, f, r)
		}
	}
}

// sweep plays a scene with a fault at every call, or at some.
func (s *stage) sweep(c *scene, f fault, r *rand.Rand) {
	s.Helper()
	calls := 0
	for _, made := range c.calls {
		if f.kind.may(made) {
			calls++
		}
	}
	// A run may make more calls than the rehearsal: try up to a quarter more, and stop when a run ends
	// before the call is reached.
	places := make([]int, calls+calls/4)
	for i := range places {
		places[i] = i + 1
	}
	if *trials > 0 {
		r.Shuffle(calls, func(i, j int) { places[i], places[j] = places[j], places[i] })
	}
	ends, played := map[int]int{}, 0
	for _, n := range places {
		f := f
		f.nth = n
		if *trials > 0 && played == *trials {
			break
		}
		e, problems := s.play(c, &f)
		if len(problems) > 0 {
			s.Errorf("%s, %v:\n%s\n%v", c.name, &f, strings.Join(problems, "\n"), e)
		}
		if f.seen < n { // this run made fewer calls
			if *trials == 0 {
				break
			}
			continue
		}
		played++
		ends[e.status]++
	}
	if played == 0 {
		s.Errorf("%s, %s: no run came to the call that was to fail", c.name, f.kind.name)
	}
	s.Logf("%s, %s, stays %v: %d places, exit statuses %v", c.name, f.kind.name, f.stays, played, ends)
}

// play plays a scene with a fault, and returns what is wrong afterwards.
func (s *stage) play(c *scene, f *fault) (e ended, problems []string) {
	s.Helper()
	m := mounted(s.T, s.dir, c.base.clone())
	defer m.unmount()
	m.begin(*f)
	e = c.run()
	*f, _ = m.begin(fault{})
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if e.status != c.status && (f.kind.err == 0 || e.status != 3 && !f.hidesAsDamage(e)) {
		wrong("exit status %d", e.status)
	}
	for _, text := range []string{"panic", "goroutine", "SQLITE", "runtime error"} {
		if e.says(text) {
			wrong("it says %q", text)
		}
	}
	// a full disk does not keep files from being removed
	if _, err := os.Lstat(s.in("g.golden.lock")); err == nil && f.kind.name == full.name {
		wrong("the golden's lock file is left")
	}
	text := s.golden()
	switch {
	case text != c.old && text != c.new:
		wrong("the golden is neither the old nor the new one")
	case text != c.new && e.status == c.status:
		wrong("success, but the golden is the old one")
	case text != c.old && e.status != c.status && (e.says("as it was") || e.says("no case is accepted")):
		wrong("it says that the golden is the old one, but it is the new one")
	}
	var statuses []int
	following := c.next()
	for _, e := range following {
		statuses = append(statuses, e.status)
	}
	if !slices.Equal(statuses, c.following) {
		wrong("next commands: %v instead of %v: %v", statuses, c.following, following)
	}
	return e, problems
}

// hidesAsDamage reports whether a read failed inside SQLite, which calls that damage.
func (f *fault) hidesAsDamage(e ended) bool {
	return f.kind.name == damaged.name && e.status == 2 && (e.says("or the disk failed to read them") || e.says("is damaged or gone: run muster check again"))
}
