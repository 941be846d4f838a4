package regress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/internal/readable"
	"muster/regress/host"
	"muster/regress/internal/crew"
	"muster/regress/internal/fault"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
)

// checking is a check or a compare under way: it compares what the cases leave
// with a baseline.
type checking struct {
	*session
	setup     crew.Setup
	settler   crew.Settler
	base      baseline
	reference *reference  // nil in a check
	recorded  recorded    // zero in a compare
	found     *keep.Store // of the cases that are not identical
	lines     *state.Lines
	pairs     *state.Pairs

	firsts    map[int]firstRun // cases that get further runs, by index
	waiting   waitingRoom      // cases of firsts that may run again during the first pass
	order     pass.InOrder     // in which the verdicts of firsts are reported
	differing int              // those of them that --fail-fast counts
	final     map[int]bool     // cases that have their verdict
	flushed   time.Time
	failures  failingRuns
	unstable  int // cases whose runs differ from the golden and from each other
	costs     *turns.Measurement
}

// firstRun is a case that gets further runs, with its first run.
type firstRun struct {
	task     pass.Task
	lane     int
	cost     outcome.Cost
	runs     int // of the case so far: an interrupted run may have made more than the first
	onEngine *outcome.EngineRun
	alike    bool        // the first run equalled the golden
	word     report.Case // of a case that is identical if its further runs are; else zero
}

// equal counts the runs so far that equalled the golden and are not stored.
func (f *firstRun) equal() int {
	if f.alike {
		return 1
	}
	return 0
}

// Check runs a candidate over the corpus and compares with the golden, which it
// never writes. Differences are in the summary; an error says that the check
// could not be made.
func Check(ctx context.Context, o Options, h host.Host) (sum Summary, err error) {
	base, err := place.Open(ctx, o.Store.Golden, placeOptions(&o, h))
	if err != nil {
		return sum, placeOptions(&o, h).ExplainUnfinished(o.Store.Golden, err)
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	completeAsRecorded(&o, base.Meta())
	completeSelection(&o.Select, base.Meta())
	s, err := openAgainst(ctx, &o, h, report.CheckCommand, base.Store)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.refuseOtherCorpus(base.Store); err != nil {
		return sum, err
	}
	if err := s.connect(ctx); err != nil {
		return sum, err
	}
	if err := s.resolve(); err != nil {
		return sum, err
	}
	if err := s.identifyTool(); err != nil {
		return sum, err
	}
	s.ledger.Summary.ToolChanged = s.toolChanged(base.Meta())
	s.ledger.Summary.Settings = flagsDiffer(base.Meta(), allFlags(s.o), "this check")
	for _, text := range s.ledger.Summary.Settings {
		s.events.Warn(text)
	}
	if ignore := "--ignore"; allFlags(s.o)[ignore] != base.Meta().Flags[ignore] {
		s.ledger.WatchIgnored(s.o.Judge.Ignore, s.ignored)
	}
	if err := s.differences.Leaks.Watch(s.crew.IsRemote() || base.Meta().OnEngine()); err != nil {
		return sum, err
	}
	c := newChecking(s, goldenBase{base.Store})
	c.setup.Left, c.settler = crew.FilesLeft(base.Get), newSettler(s, base.Store)
	c.recorded = recorded{base.Meta(), base.Digest(), s.wallsIn(base.Store), base.Flaky}
	if err := c.prepareCosts(c.findRecordedRival); err != nil {
		return sum, err
	}
	if len(s.cases) == 0 && len(s.lacking) == 0 {
		return sum, s.nothing()
	}
	if err := s.compareSources(ctx, base.Store); err != nil {
		return sum, err
	}
	return c.check(ctx)
}

func newChecking(s *session, base baseline) *checking {
	return &checking{session: s, base: base, setup: s.setup(s.lanesForCases()), firsts: map[int]firstRun{}, order: pass.NewInOrder(), final: map[int]bool{}}
}

// check runs both passes and sums up.
func (c *checking) check(ctx context.Context) (Summary, error) {
	pending, err := c.begin(ctx)
	if err != nil {
		return c.ledger.Summary, err
	}
	ctx, watched := c.watchTool(ctx)
	err = c.runFirst(ctx, pending)
	if e := c.lines.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = c.runFurther(ctx)
		c.warnLeaks()
	}
	if err == nil {
		err = c.groups(c.sides)
	}
	if err == nil {
		err = c.reportCost(ctx)
	}
	if err != nil {
		err = errors.Join(err, c.reportDiffered())
	}
	if e := c.pairs.Close(); err == nil {
		err = e
	}
	return c.ledger.Summary, c.end(c.endStores(watched(err)))
}

// endStores completes what is kept of the run, or leaves it for --resume.
func (c *checking) endStores(err error) error {
	if e := c.found.End(err); e != nil {
		err = errors.Join(err, e)
	}
	if c.reference == nil {
		return err
	}
	if e := c.reference.End(err); e != nil {
		err = errors.Join(err, e)
	}
	return err
}

// begin starts a new run or goes on with an interrupted one, and returns what
// has to be run.
func (c *checking) begin(ctx context.Context) (pending []pass.Task, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, c.dropRun())
		}
	}()
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	done, err := c.run.ReadLines()
	if err != nil {
		return nil, err
	}
	if c.lines, err = c.run.OpenLines(); err != nil {
		return nil, err
	}
	if err := c.resumePairs(); err != nil {
		return nil, errors.Join(err, c.lines.Close())
	}
	known := state.LinesByName(done)
	if err := c.repeatFinished(ctx, known); err != nil {
		return nil, errors.Join(c.endStores(err), c.lines.Close(), c.pairs.Close())
	}
	c.due = c.recorded.took.Complete()
	c.events.Emit(report.Started{
		Command: c.name, Run: c.run.ID, Corpus: c.o.Corpus.Path, Tool: commandLine(&c.o.Command), Against: c.against(), Cases: len(c.cases), Jobs: c.jobs(),
		Resumed: len(done), Expected: c.due.Sum(c.without(known)), Allowed: parseAllowed(c.o), At: c.began,
	})
	pending, err = c.resume(known)
	if err != nil {
		return nil, errors.Join(c.endStores(err), c.lines.Close(), c.pairs.Close())
	}
	return pending, nil
}

// start brings up the lanes, and finds or makes the run and its stores.
func (c *checking) start(ctx context.Context) error {
	id, err := c.identity(ctx)
	if err != nil {
		return err
	}
	id["--golden"] = c.o.Store.Golden // accept writes to it
	if c.reference != nil {
		crew.IdentifyCommand("the reference", c.reference.command, id)
	} else {
		id["the golden"] = c.recorded.digest.String()
	}
	if err := c.startCrew(ctx, c.setup); err != nil {
		return err
	}
	c.costs.Start(c.executor)
	c.executor = c.settler.Decorate(c.executor)
	maps.Copy(id, c.crew.Identity())
	if err := c.startRun(id, c.recorded.digest); err != nil {
		return err
	}
	meta, err := c.meta(ctx)
	if err != nil {
		return err
	}
	c.noteOtherPreflight(meta)
	if c.reference != nil {
		if c.reference.Store, err = keep.Resume(c.run.References(), meta); err != nil {
			return err
		}
	}
	c.found, err = keep.Resume(c.run.Outcomes(), meta)
	c.found.Sources = c.digests
	return err
}

// against names what the candidate is compared with.
func (c *checking) against() string {
	if c.name == report.CompareCommand {
		return name.QuoteAll(c.o.Command.Reference)
	}
	return c.o.Store.Golden
}

// takeFirst notes what came of a first run.
func (c *checking) takeFirst(t pass.Task, r firstResult) error {
	if r.err != nil {
		if err := c.takeError(t, r.err); err != nil {
			return err
		}
		return c.enough()
	}
	c.events.Emit(report.CaseRan{
		Name: t.Entry.Name, Pass: 1, Differs: !r.identical,
		CPU: r.cost.CPU, Wall: r.cost.Wall, Expected: c.due.Of(t.Index), Engine: r.onEngine, At: time.Now(),
	})
	c.ledger.Summary.CPU += r.cost.CPU
	if r.beside != nil {
		if err := c.costs.AddFirst(t, r.beside); err != nil {
			return err
		}
	}
	line := state.Line{
		Name: []byte(t.Entry.Name), Identical: r.identical, Kind: r.ending.Kind, Code: r.ending.Code,
		CPU: int64(r.cost.CPU), Wall: int64(r.cost.Wall), Peak: r.cost.PeakRSS, Engine: r.onEngine,
		Ignored: name.PrintAll(r.left.Ignored),
	}
	if err := c.addLine(line); err != nil {
		return err
	}
	if err := c.countFailure(t, r); err != nil {
		return err
	}
	if r.identical {
		c.identical(t, r)
		return nil
	}
	c.differs(firstRun{task: t, lane: r.lane, cost: r.cost, runs: 1, onEngine: r.onEngine})
	return c.enough()
}

// enough ends the first pass when --fail-fast says so.
func (c *checking) enough() error {
	if most := c.o.Select.FailFast; most > 0 && c.differing+c.ledger.Summary.Verdicts[outcome.Environment] >= most {
		return pass.ErrStop
	}
	return nil
}

// differs notes a first run that was not identical. A new case that may be new
// is none that --fail-fast counts; what else may be allowed is not known yet.
func (c *checking) differs(f firstRun) {
	c.firsts[f.task.Index] = f
	c.waiting.add(f)
	if c.base.Has(f.task.Entry.Name) || !slices.Contains(c.o.Judge.Allow, outcome.New.String()) {
		c.differing++
	}
}

// lineEvery bounds how much a kill can lose of the lines.
const lineEvery = 200 * time.Millisecond

func (c *checking) addLine(l state.Line) error {
	if err := c.lines.Add(l); err != nil {
		return err
	}
	return c.flush()
}

// flush keeps what there is of lines and pairs, now and then.
func (c *checking) flush() error {
	if time.Since(c.flushed) < lineEvery {
		return nil
	}
	c.flushed = time.Now()
	return errors.Join(c.pairs.Flush(), c.lines.Flush())
}

// takeError notes a case that could not be run.
func (c *checking) takeError(t pass.Task, err error) error {
	c.final[t.Index] = fault.ClassOf(err) == fault.Environment
	return c.ledger.MachineFailed(t, err)
}

// identical notes a first run that was identical: the case has its verdict, unless --runs
// asks for more.
func (c *checking) identical(t pass.Task, r firstResult) {
	f := firstRun{task: t, lane: r.lane, cost: r.cost, runs: 1, onEngine: r.onEngine, alike: true}
	f.word = report.Case{
		Verdict: outcome.Identical, Ending: &r.ending, GoldenEnding: &r.ending, Cost: r.cost,
		Flaky: r.left.Masked, Masked: r.left.Masked, Ignored: r.left.Ignored, Engine: r.onEngine,
	}
	if c.runsWanted(f) > 1 {
		c.firsts[t.Index] = f
		c.waiting.add(f)
		return
	}
	c.conclude(t, f.word)
}

// conclude gives a case its verdict.
func (c *checking) conclude(t pass.Task, e report.Case) {
	e.Name, e.Index = t.Entry.Name, t.Index
	c.final[t.Index] = true
	if e.Unstable {
		c.unstable++
	}
	c.costs.AddCase(t, &e)
	c.ledger.Verdict(e)
}

// end sums up, whatever happened before.
func (c *checking) end(err error) error {
	if err == nil {
		err = c.inputsChanged()
	}
	if err == nil {
		err = c.missing()
	}
	if err == nil {
		c.warnCommand()
		err = c.warnAccepted()
	}
	c.ledger.NotRun(c.cases, func(i int) bool { return c.final[i] })
	err = c.finish(err)
	if c.ledger.Summary.Interrupted && c.ledger.Summary.NotRun+c.ledger.Summary.Verdicts[outcome.DifferedOnce] == 0 {
		return fault.Interruptedf("interrupted: all cases have their verdicts, and what the change costs is not told%s", c.goesOn())
	}
	if c.ledger.Summary.Interrupted {
		text := fmt.Sprintf("interrupted: %s of %s did not run", readable.Number(c.ledger.Summary.NotRun), readable.Cases(len(c.cases)))
		if n := c.ledger.Summary.Verdicts[outcome.DifferedOnce]; n > 0 {
			text += fmt.Sprintf(", and %s differed and did not run again", readable.Number(n))
		}
		return fault.Interruptedf("%s%s", text, c.goesOn())
	}
	return err
}

// missing gives a verdict to what the corpus lacks.
func (c *checking) missing() error {
	for i, name := range c.lacking {
		old, _, err := c.base.Get(name)
		if err != nil {
			return err
		}
		c.ledger.Verdict(report.Case{Name: name, Index: len(c.cases) + i, Verdict: outcome.Missing, GoldenEnding: &old.Outcome.Ending})
		c.ledger.Absent++
	}
	return nil
}
