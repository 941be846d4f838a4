package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPowerLoss takes the power away at a call of a command, or after its end. What the disk was not
// told to flush is lost, or kept in part, in any order. The golden is the old one or the new one,
// whole, and the new one if the command had succeeded. A check and an accept then work.
func TestPowerLoss(t *testing.T) {
	requireMount(t)
	s, r := newStage(t), random(t)
	for _, c := range s.scenes() {
		played, ends := 0, map[int]int{}
		for n := range len(c.calls) + 1 {
			at := n + 1
			if *trials > 0 {
				if played == *trials {
					break
				}
				// half of them after the end
				if at = 1 + r.IntN(len(c.calls)); r.IntN(2) == 0 {
					at = never
				}
			}
			played++
			e, problems := s.losePower(c, at, losses[r.IntN(len(losses))], r)
			ends[e.status]++
			if len(problems) > 0 {
				s.Errorf("%s, power lost at call %d of %d, place %d:\n%s\n%v", c.name, at, len(c.calls), played, strings.Join(problems, "\n"), e)
			}
		}
		t.Logf("%s: %d places, exit statuses %v", c.name, played, ends)
	}
}

// never is the number of a call that no command makes.
const never = 1 << 30

// losePower plays a scene until a call, and returns what is wrong on the disk that is left.
func (s *stage) losePower(c *scene, at int, l loss, r *rand.Rand) (e ended, problems []string) {
	s.Helper()
	before := mounted(s.T, s.dir, c.base.clone())
	before.begin(fault{kind: damaged, nth: at, stays: true})
	e = c.run()
	before.unmount()
	after := mounted(s.T, s.dir, before.disk.lose(l, r))
	defer after.unmount()
	return e, s.judge(c, e, l)
}

// judge looks at the disk that a power loss left.
func (s *stage) judge(c *scene, e ended, l loss) (problems []string) {
	s.Helper()
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%+v: "+format, append([]any{l}, args...)...))
	}
	switch text := s.golden(); {
	case text != c.old && text != c.new:
		wrong("the golden is neither the old nor the new one")
	case text != c.new && e.status == c.status:
		wrong("success, but the golden is the old one")
	}
	// The next commands may refuse damaged files of runs with a message. Those after them work.
	for _, e := range c.next() {
		if e.status > 3 || e.status > 1 && !strings.HasPrefix(e.lastLine(), "muster: ") {
			wrong("next: %v", e)
		}
	}
	for _, step := range []struct {
		args   []string
		status []int
	}{
		{s.check("new"), []int{0, 1}},
		{[]string{"accept", "--all", "--state", s.in("state")}, []int{0}},
		{s.check("new"), []int{0}},
	} {
		if e := s.muster(step.args...); !slices.Contains(step.status, e.status) {
			wrong("recovery: %v", e)
		}
	}
	return problems
}
