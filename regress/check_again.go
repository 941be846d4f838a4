package regress

import (
	"context"
	"maps"
	"slices"
	"time"

	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// runAgain makes the further runs of every case that still needs some, on other lanes than
// the first run, and gives these cases their verdicts.
func (c *checking) runAgain(ctx context.Context) error {
	var firsts []firstRun
	var tasks []task
	for _, i := range slices.Sorted(maps.Keys(c.firsts)) {
		if !c.final[i] {
			firsts, tasks = append(firsts, c.firsts[i]), append(tasks, c.firsts[i].task)
		}
	}
	if runs := c.runsLeft(firsts); runs > 0 {
		c.emit(report.PassStarted{Pass: 2, Runs: runs, At: time.Now()})
	}
	order := inOrder{tasks: tasks, ready: map[int]func(){}}
	again := func(ctx context.Context, t task) judged { return c.again(ctx, c.firsts[t.index]) }
	err := runPass(ctx, c.session, tasks, again, func(t task, j judged) error { return c.takeJudged(&order, t, j) })
	order.flush()
	return err
}

// runWaiting runs a case again that waits for it, between two cases of the first pass.
func (c *checking) runWaiting(ctx context.Context, long time.Duration) (note func() error) {
	f, ok := c.waiting.next(long, c.due)
	if !ok {
		return nil
	}
	j := c.again(ctx, f)
	return func() error {
		if j.err != nil {
			return c.takeError(f.task, j.err)
		}
		c.summary.CPU += j.cpu
		c.conclude(f.task, j.word)
		return nil
	}
}

// reportDiffered reports, after a run that broke off, the cases that differed and have no
// verdict: nothing that was seen goes unsaid.
func (c *checking) reportDiffered() error {
	for _, i := range slices.Sorted(maps.Keys(c.firsts)) {
		if c.final[i] {
			continue
		}
		f := c.firsts[i]
		word, err := c.judge(f)
		if err != nil {
			return err
		}
		switch word.Verdict {
		case outcome.Identical:
			continue // --runs asks for more runs
		case outcome.Flaky, outcome.New: // further runs would change nothing
		default:
			word.Verdict, word.Unstable = outcome.DifferedOnce, false
		}
		word.Engine = f.onEngine
		c.conclude(f.task, word)
	}
	return nil
}

// takeJudged notes the result of the further runs of a case.
func (c *checking) takeJudged(order *inOrder, t task, j judged) error {
	if j.err != nil {
		order.add(t, func() {})
		return c.takeError(t, j.err)
	}
	c.summary.CPU += j.cpu
	order.add(t, func() { c.conclude(t, j.word) })
	return nil
}
