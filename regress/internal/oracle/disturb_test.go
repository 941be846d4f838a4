package oracle

import (
	"fmt"
	"muster/regress"
	"muster/regress/internal/outcome"
	"muster/regress/record"
	"os"
	"slices"

	"pgregory.net/rapid"
)

// calmAfter is after how many attempts a command is left alone, so that it comes to an end.
const calmAfter = 3

// drawPlan draws what happens while a command runs.
func (r *round) drawPlan(attempts int) disturbance {
	plan := undisturbed
	if attempts >= calmAfter {
		return plan
	}
	at := func() int { return rapid.IntRange(0, 4*len(r.cases)).Draw(r.T, "before run") }
	switch rapid.IntRange(0, 9).Draw(r.T, "disturbance") {
	case 6, 7, 8:
		plan.cut = at()
	case 5:
		plan.fail = at()
	case 9:
		plan.turn = at()
		made, next := r.drawFileChange(), r.drawCandidate("turned")
		plan.by = func() {
			r.must(made.apply())
			r.world.tool = next
		}
		r.Logf("  %v if it gets to run %d", made, plan.turn)
		r.turning = made
	}
	r.Logf("  plan: %v", plan)
	return plan
}

// drawFileChange draws a file of the command that changes.
func (r *round) drawFileChange() *change {
	name := rapid.SampledFrom(r.commandFiles()).Draw(r.T, "file")
	return &change{what: name, apply: func() error { return r.write(name) }}
}

// drawChange draws what changes between an interrupt and a resume with these options: often
// nothing.
func (r *round) drawChange(c *chain, o *regress.Options, command string) {
	var made *change
	switch rapid.IntRange(0, 10).Draw(r.T, "between") {
	case 0, 1, 2, 3:
		return
	case 4:
		name := "src/" + rapid.SampledFrom(r.cases).Draw(r.T, "source")
		made = &change{what: name, apply: func() error { return r.write(name) }}
	case 5:
		value := os.Getenv(passed) + "x"
		made = &change{what: "a passed variable", apply: func() error { return os.Setenv(passed, value) }}
	case 7:
		set := fmt.Sprintf("V=%d", r.tally.attempts) // another one each time
		made = &change{what: "--env", apply: func() error { o.Command.Env = []string{set}; return nil }}
	case 8:
		if command != regress.CheckCommand {
			return
		}
		made = &change{what: "the golden", apply: r.recordAnother}
	case 9:
		if c.change != nil {
			return
		}
		made = &change{what: "nothing that is seen", unseen: true, apply: func() error { return nil }}
	case 6:
		name := rapid.SampledFrom(append(slices.Clone(writtenFiles), "src/"+r.cases[0])).Draw(r.T, "touched")
		r.Logf("  %s is replaced by its like", name)
		r.must(r.touch(name))
		c.touched = true
		return
	default:
		made = r.drawFileChange()
	}
	r.Logf("  %v, and the tool with it", made)
	r.must(made.apply())
	if c.change == nil || !c.change.unseen {
		c.change, c.begun = made, len(c.runs)
	}
	was := r.world.tool
	r.use(r.drawCandidate("changed"))
	c.betrayed = made.unseen && !c.lossy && r.betrays(c, was, command)
}

// betrays reports whether the finished cases betray that the tool was another one before: all
// are in the sample, a case is left to run, and one has another outcome each time.
func (r *round) betrays(c *chain, was *model, command string) bool {
	if len(c.runs) > runAgainLeast || !r.unfinished(c, command) {
		return false
	}
	for name := range c.runs {
		before, known := was.conduct(name).only()
		now, stable := r.world.tool.conduct(name).only()
		before, now = before.compared(r.how), now.compared(r.how)
		if !known || !stable || before == now || !slices.Contains(r.cases, name) {
			continue
		}
		if command == regress.RecordCommand {
			return true
		}
		g := r.golden[name]
		if g == nil {
			continue
		}
		first, _ := g.compare(before)
		again, _ := g.compare(now)
		if first == yes && again == no && !slices.Contains(g.endings(), now.ending) || first == no {
			return true
		}
	}
	return false
}

// unfinished reports whether a case still gets runs.
func (r *round) unfinished(c *chain, command string) bool {
	for _, name := range r.cases {
		want := r.o.Judge.Repeat
		if command == regress.CheckCommand {
			want = max(1, r.o.Judge.Runs)
			if g, runs := r.golden[name], c.runs[name]; g != nil && len(runs) > 0 {
				if first, _ := g.compare(runs[0]); first == no {
					want = 1 + r.o.Judge.Retries
				}
			}
		}
		if len(c.runs[name]) < want {
			return true
		}
	}
	return false
}

// kept asserts that a record which did not come to its end reports the cases that it kept. Those that
// failed because of the machine count as that, even if they have all runs.
func (r *round) kept(c *chain, a *attempt) {
	least := 0
	for name, faces := range c.runs {
		if a.verdicts[name] != regress.EnvironmentFailed && len(faces) >= r.o.Judge.Repeat && (!varies(faces) || len(faces) > outcome.VariantsMax) {
			least++
		}
	}
	said := a.last.Recorded
	r.assert(keptIsSaid, said >= least && said <= len(c.runs) || c.lossy, "%d recorded, %d to %d have runs", said, least, len(c.runs))
}

// recordAnother replaces the golden by that of another tool.
func (r *round) recordAnother() error {
	r.use(r.drawCandidate("recorded instead"))
	c := newChain()
	c.last = r.attempt(record.Run, r.o, undisturbed)
	c.add(c.last, r.how)
	r.must(c.last.err)
	r.settleRecord(c)
	return nil
}

// interrupted asserts what an interrupted command reports.
func (r *round) interrupted(c *chain, a *attempt) {
	switch {
	case c.change != nil, !a.wentOn():
		return
	case a.sum.Command == regress.RecordCommand:
		r.kept(c, a)
		return
	}
	for name, v := range a.verdicts {
		r.judge(c, a, name, v)
	}
	if c.lossy {
		return
	}
	for name, faces := range c.runs {
		g := r.golden[name]
		if _, judged := a.verdicts[name]; judged || g == nil {
			continue
		}
		if is, _ := g.compare(faces[0]); is == no {
			r.assert(differedOnce, a.once[name], "%s differed and is not reported", name)
		}
	}
}
