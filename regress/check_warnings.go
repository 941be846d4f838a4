package regress

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"muster/internal/readable"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
)

// failingRuns counts first runs that fail newly, until another run comes.
type failingRuns struct {
	count   int
	stopped bool
	warned  bool
}

// countFailure counts a first run that fails newly. It warns once if the first cases that ran all
// fail and did not fail before. A resumed check does not warn, as its first cases ran earlier.
func (c *checking) countFailure(t pass.Task, r firstResult) error {
	f := &c.failures
	f.stopped = f.stopped || c.resumed || r.identical || r.ending.Success()
	if f.stopped {
		return nil
	}
	old, known, err := c.base.Get(t.Entry.Name)
	if f.stopped = known && !old.Outcome.Ending.Success(); err != nil || f.stopped {
		return err
	}
	if f.count++; f.count != pass.FailingFirst || len(c.cases) == pass.FailingFirst {
		return nil
	}
	f.warned = true
	c.events.Warn(fmt.Sprintf("all of the first %d cases fail, and none failed before: interrupt the %s if the command is wrong", pass.FailingFirst, c.name))
	c.hint(c.commands.Main.Hints)
	return nil
}

// hint warns of likely mistakes in the command.
func (c *checking) hint(hints func() []string) {
	if c.commands.Main == nil {
		return
	}
	for _, hint := range hints() {
		c.events.Warn(hint)
	}
}

// warnCommand warns of likely mistakes in the command if most cases fail newly, of misspelt
// tokens if most are not identical, and of a command whose outcomes vary from run to run.
func (c *checking) warnCommand() {
	v := c.ledger.Summary.Verdicts
	differ := v.NotIdentical()
	switch {
	case c.failures.warned:
	case 2*v[outcome.NewlyFailing] > len(c.cases):
		c.hint(c.commands.Main.Hints)
	case 2*differ > len(c.cases):
		c.hint(c.commands.Main.Misspelt)
	}
	if 2*c.unstable > differ {
		c.events.Warn(fmt.Sprintf("most cases that differ vary from run to run (%s of %s); --normalize rewrites what may vary, such as times and addresses, and --ignore leaves out a part, such as a cache", readable.Number(c.unstable), readable.Number(differ)))
	}
}

// warnLeaks warns if cases differ by the path of the work folder.
func (c *checking) warnLeaks() {
	if text := c.differences.Leaks.Advice(); text != "" {
		c.events.Warn(text)
	}
}

// noteOtherPreflight reports that the preflight of the recorded command has another outcome than
// it had for the golden. Nobody may know that somebody changed the tool of an engine's workers.
// With another command the change is expected.
func (c *checking) noteOtherPreflight(now golden.Meta) {
	was, none := c.recorded.meta, outcome.Digest{}
	if was.Preflight == none || now.Preflight == none || was.Preflight == now.Preflight {
		return
	}
	if golden.SameCommands(was.Command, now.Command) {
		c.events.Note("the preflight gives something else than it did for the golden: the tool there is another than the one that recorded it, or --preflight is")
	}
}

// warnAccepted reports how many of the cases that differ were accepted from another command than
// the one that ran, and which check would run it.
func (c *checking) warnAccepted() error {
	lines := map[string]int{}
	elsewhere := c.acceptedElsewhere()
	if len(elsewhere) == 0 {
		return nil
	}
	for _, p := range c.ledger.Results() {
		if p.Verdict == outcome.Environment || !c.base.Has(string(p.Name)) {
			continue
		}
		rec, _, err := c.base.Get(string(p.Name))
		if err != nil {
			return err
		}
		if line, is := elsewhere[rec.Origin]; is {
			lines[line]++
		}
	}
	for _, line := range slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[b], lines[a]), cmp.Compare(a, b))
	}) {
		were := "were"
		if lines[line] == 1 {
			were = "was"
		}
		c.events.Warn(readable.Number(lines[line]) + " of the cases that differ " + were + " accepted from another command: " + line)
	}
	return nil
}

// acceptedElsewhere returns the check that would be green for each accept of another command
// than the golden's and the one that ran, by the number that records have as their origin. The
// golden's command also left what was accepted before an accept moved it.
func (c *checking) acceptedElsewhere() map[int]string {
	lines := map[int]string{}
	moved := c.recorded.meta.Recorder().Moved
	for i, a := range c.recorded.meta.Accepts {
		if !a.At.After(moved) {
			continue
		}
		recorded, ran := c.recorded.meta.Flags, outcomeFlags(c.o)
		if len(a.Flags) == 0 {
			recorded, ran = nil, nil // a golden of an older muster does not keep them
		}
		isRecorded := sameStart(a.Command, c.recorded.meta.Command, a.Flags, recorded)
		if !isRecorded && !sameStart(a.Command, commandsIn(&c.o.Command), a.Flags, ran) {
			lines[i+1] = greenLine(c.recorded.meta, a, c.o)
		}
	}
	return lines
}
