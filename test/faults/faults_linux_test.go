package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// requireMount skips a test if -short is given, and where nothing can be mounted. There it fails if
// MUSTER_REQUIRE=all requires everything.
func requireMount(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err == nil && os.Geteuid() == 0 {
		f.Close()
		return
	}
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("as root, with /dev/fuse: %v", err)
	}
	t.Skip("only root can mount a file system in a process, with /dev/fuse")
}

// TestFaults has a call of each command fail, end halfway or take long. The golden is the old one
// or the new one, whole, the command says so, and the next ones work. A command that has only half
// of a call or waits succeeds.
func TestFaults(t *testing.T) {
	requireMount(t)
	s := newStage(t)
	chosen := chosenSeed()
	r := rand.New(rand.NewPCG(chosen, 0))
	t.Logf("seed %d", chosen)
	for _, c := range s.scenes() {
		if *only != "" && c.name != *only {
			continue
		}
		for _, f := range []fault{{kind: damaged}, {kind: damaged, stays: true}, {kind: full}, {kind: full, stays: true}, {kind: short}, {kind: slow}} {
			s.sweep(c, f, r)
		}
	}
}

// sweep plays a scene with a fault at every call, or at some.
func (s *stage) sweep(c *scene, f fault, r *rand.Rand) {
	s.Helper()
	// a run may make more calls than the rehearsal: the sweep goes on until one makes fewer
	places := make([]int, c.calls+c.calls/4)
	for i := range places {
		places[i] = i + 1
	}
	if *trials > 0 {
		r.Shuffle(c.calls, func(i, j int) { places[i], places[j] = places[j], places[i] })
	}
	ends, played := map[int]int{}, 0
	for _, n := range places {
		f := f
		f.nth = n
		if *trials > 0 && played == *trials {
			break
		}
		e, problems := s.play(c, &f)
		if f.seen < n {
			if *trials == 0 {
				break
			}
			continue
		}
		played++
		ends[e.status]++
		if len(problems) > 0 {
			s.Errorf("%s, %v:\n%s\n%v", c.name, &f, strings.Join(problems, "\n"), e)
		}
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
	*f = m.fault
	m.begin(fault{})
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if e.status != c.status && (f.kind.err == 0 || e.status != 3 && !f.hidesAsDamage(e)) {
		wrong("exit status %d", e.status)
	}
	for _, text := range []string{"panic", "goroutine", "SQLITE", "runtime error"} {
		if e.says(text) {
			wrong("it says %q", text)
		}
	}
	text := s.golden()
	switch {
	case text != c.old && text != c.new:
		wrong("the golden is neither the old nor the new one")
	case text != c.new && e.status == c.status:
		wrong("success, and the golden is the old one")
	case text != c.old && e.status != c.status && (e.says("as it was") || e.says("no case is accepted")):
		wrong("it says that the golden is the old one, and it is the new one")
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

// hidesAsDamage reports whether a call failed once that only SQLite saw, which takes it for damage.
func (f *fault) hidesAsDamage(e ended) bool {
	return !f.stays && f.first.op == "read" && strings.Contains(f.first.name, ".golden") && e.status == 2 && e.says("or could not be read once")
}
