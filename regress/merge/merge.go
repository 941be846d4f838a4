// Package merge joins the checks of several CI jobs into one run, in the state folder that the options
// name. These checks, called parts here, must have compared the same corpus and command with the same
// golden. Output: the run, reports, and a Summary.
//
// The package must not run cases.
package merge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
)

// Runs joins finished checks of parts of one corpus, such as those of several CI jobs,
// into one run of the state folder. It finds the causes of all differences anew. groups,
// show, review and accept take the merged run like any other check. The argument runs holds
// IDs and state folders; a state folder stands for its last check.
//
// The runs must have compared the same corpus and command with the same golden. Their
// settings must be equal, except the selection. If two runs have one case, Runs returns an error of class
// Input that names the case.
func Runs(ctx context.Context, o regress.Options, h host.Host, runs []string) (sum regress.Summary, err error) {
	if len(runs) < 2 {
		return sum, fault.Inputf("merge needs two or more runs: IDs, or state folders of other jobs")
	}
	parts, err := openParts(&o, h, runs)
	if err != nil {
		return sum, err
	}
	first := parts[0]
	merged := first.Options
	merged.Select = regress.Selection{Recorded: merged.Select.Recorded, AllCases: merged.Select.AllCases}
	job.OverrideKept(&merged, &o)
	j, err := job.Resolve(merged, nil, regress.CheckCommand)
	if err != nil {
		return sum, err
	}
	s, err := run.New(j, h)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Lock(); err != nil {
		return sum, err
	}
	if err := run.OpenReporters(s); err != nil {
		return sum, err
	}
	base, err := first.Run.OpenBase(ctx)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	if base.Digest().String() != first.Run.State.Golden {
		return sum, fault.Inputf("the golden %s is not the one that run %s compared with: restore it, or check again", first.Options.Store.Golden, first.Run.ID)
	}
	if err := requireWhole(parts, base.Store); err != nil {
		return sum, err
	}
	s.Ledger.Summary.Merged = len(parts)
	m := merging{run: s, parts: parts, base: base.Store}
	err = m.merge(ctx)
	return s.Ledger.Summary, err
}

// openParts opens the runs, and refuses those that are not parts of one check.
func openParts(o *regress.Options, h host.Host, runs []string) (parts []*pastrun.Past, err error) {
	for _, word := range runs {
		p, err := openPart(o, h, word)
		if err != nil {
			return nil, err
		}
		// Runs of two state folders that began in one second may have drawn the same ID.
		if slices.ContainsFunc(parts, func(q *pastrun.Past) bool {
			return q.Run.ID == p.Run.ID && q.Run.State.Started.Equal(p.Run.State.Started)
		}) {
			return nil, fault.Inputf("run %s is named twice", p.Run.ID)
		}
		if len(parts) > 0 {
			if what := run.FirstPartDifference(run.PartIdentity(parts[0].Run.State.Identity), run.PartIdentity(p.Run.State.Identity)); what != "" {
				return nil, fault.Inputf("runs %s and %s are not parts of one check: %s is not the same in both", parts[0].Run.ID, p.Run.ID, what)
			}
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// openPart opens a run by its ID, or the last check of a state folder.
func openPart(o *regress.Options, h host.Host, word string) (*pastrun.Past, error) {
	from, id := *o, word
	if info, err := os.Stat(word); err == nil && info.IsDir() {
		from.Store.State, id = word, ""
	}
	p, err := pastrun.OpenLast(&from, h, id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	if p.Run.Command != regress.CheckCommand {
		return nil, fault.Inputf("run %s was a compare: only runs of check can be merged", p.Run.ID)
	}
	return p, p.Run.RequireFinished(false)
}

// merging joins runs into one.
type merging struct {
	run   *run.Run
	parts []*pastrun.Past
	base  *golden.Store
	names []string                        // of all cases, sorted
	cases map[string]partOutcome          // by name
	found map[*pastrun.Past]*golden.Store // the outcomes that each part kept; nil if none
	kept  *golden.Writer
}

// partOutcome is the verdict of one part on a case.
type partOutcome struct {
	part   *pastrun.Past
	line   state.Line    // of its first run; zero if it did not run
	result *state.Result // nil if it was identical
}

func (m *merging) merge(ctx context.Context) (err error) {
	m.found = map[*pastrun.Past]*golden.Store{}
	defer func() {
		for _, found := range m.found {
			err = errors.Join(err, found.Close())
		}
	}()
	if err := m.collect(); err != nil {
		return err
	}
	if m.run.Folder, err = m.run.State.NewRun(m.info()); err != nil {
		return err
	}
	info, statErr := os.Stat(m.run.Job.Corpus.Path) // the runs may come from other machines
	m.run.Events.Emit(report.Started{
		Command: m.run.Job.Name, Run: m.run.Folder.ID, Corpus: m.run.Job.Corpus.Path, Folder: statErr == nil && info.IsDir(), Tool: job.CommandLine(&m.run.Job.Command), Against: m.run.Job.Store.Golden,
		Cases: len(m.names), Jobs: m.run.Job.Limits.Jobs, Allowed: job.ParseAllowed(&m.run.Job.Options), At: m.run.Began,
	})
	if err = m.judgeAll(ctx); err == nil {
		err = m.run.ReportGroups(func(name string) (was, is content.Side, err error) {
			return analyse.RunSides(m.base, m.found[m.cases[name].part], name)
		})
	}
	m.run.Ledger.Absent = len(m.names)
	if err == nil {
		err = addRemarks(&m.run.Ledger.Summary, m.parts)
	}
	if err = m.run.Finish(err); err != nil {
		return errors.Join(err, m.run.Drop())
	}
	return nil
}

// info returns the content of run.json for the merged run.
func (m *merging) info() state.Info {
	first := m.parts[0].Run.State
	options, err := job.Encode(&m.run.Job.Options)
	if err != nil {
		options = first.Options // these could be encoded before
	}
	return state.Info{Command: m.run.Job.Name, Started: m.run.Began, Identity: run.PartIdentity(first.Identity), Golden: first.Golden, Options: options}
}

// collect gathers the cases of all parts. It refuses cases that two parts have.
func (m *merging) collect() error {
	m.cases = map[string]partOutcome{}
	for _, p := range m.parts {
		if err := m.openFound(p); err != nil {
			return err
		}
		add := func(caseName string, c partOutcome) error {
			other, known := m.cases[caseName]
			if known && other.part != p {
				return fault.Inputf("%s is in two of the runs, %s and %s: leave one of them out, or check it in one job only", name.Print(caseName), other.part.Run.ID, p.Run.ID)
			}
			m.cases[caseName] = c
			return nil
		}
		for l, err := range p.Run.State.ReadLines() {
			if err == nil {
				err = add(string(l.Name), partOutcome{part: p, line: *l})
			}
			if err != nil {
				return err
			}
		}
		for i := range p.Run.Results {
			r := &p.Run.Results[i]
			if err := add(string(r.Name), partOutcome{p, m.cases[string(r.Name)].line, r}); err != nil {
				return err
			}
		}
	}
	m.names = slices.Sorted(maps.Keys(m.cases))
	return nil
}

// openFound opens the store of a part's differences, if the part has one.
func (m *merging) openFound(p *pastrun.Past) error {
	found, err := p.Run.OpenOutcomesIfAny()
	if err == nil && found != nil {
		m.found[p] = found
	}
	return err
}

// record returns the record of a case that a part kept.
func (m *merging) record(caseName string, c partOutcome) (golden.Record, bool, error) {
	found := m.found[c.part]
	if found == nil {
		return golden.Record{}, false, nil
	}
	return found.Get(caseName)
}

// judgeAll reports every case as its part judged it, and keeps the outcomes.
func (m *merging) judgeAll(ctx context.Context) error {
	lines, err := m.run.Folder.OpenLines(func(int64, *state.Line) {}) // a new run has none
	if err != nil {
		return err
	}
	for _, caseName := range m.names {
		if l := m.cases[caseName].line; l.Name != nil {
			err = errors.Join(err, lines.Add(l))
		}
	}
	if err := errors.Join(err, lines.Close()); err != nil {
		return err
	}
	for i, caseName := range m.names {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, m.endKept(err))
		}
		word, err := m.judge(ctx, caseName)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", name.Print(caseName), err), m.endKept(err))
		}
		word.Name, word.Index = caseName, i
		m.run.Ledger.Summary.CPU += word.Cost.CPU
		m.run.Ledger.Verdict(word)
	}
	return m.endKept(nil)
}

func (m *merging) endKept(err error) error {
	if m.kept == nil {
		return nil
	}
	if err != nil {
		return m.kept.Abort(false)
	}
	return m.kept.Finish()
}

// judge reports a case as its part judged it.
func (m *merging) judge(ctx context.Context, caseName string) (word report.Case, err error) {
	c := m.cases[caseName]
	old, inGolden, err := m.base.Get(caseName)
	if err != nil {
		return word, err
	}
	if inGolden {
		word.GoldenEnding = &old.Outcome.Ending
	}
	if c.result == nil {
		word.Verdict, word.Ending = regress.Identical, &regress.Ending{Kind: c.line.Kind, Code: c.line.Code}
		word.Cost = outcome.Cost{CPU: time.Duration(c.line.CPU), Wall: time.Duration(c.line.Wall), PeakRSS: c.line.Peak}
		left, err := content.UncomparedIn(m.run.Job.Rules, content.Side{Outcome: &old.Outcome, Open: m.base.Content})
		if err != nil {
			return word, err
		}
		left, err = left.PlusPrinted(c.line.Ignored)
		word.Masked, word.Ignored, word.Holes, word.Engine = left.Masked, left.Ignored, left.Holes, c.line.Engine
		word.Flaky, word.Reused = word.Masked, c.line.Reused
		return word, err
	}
	word.Verdict, word.Unstable, word.Why, word.Engine = c.result.Verdict, c.result.Unstable, c.result.Why, c.result.Engine
	word.Reused = c.result.Reused
	rec, known, err := m.record(caseName, c)
	if err != nil || !known {
		return word, err // missing, or the machine failed
	}
	if err := m.keepOutcome(ctx, rec, m.found[c.part]); err != nil {
		return word, err
	}
	word.Ending, word.Cost, word.Flaky = &rec.Outcome.Ending, rec.Cost, content.FlakyParts(&rec.Outcome)
	if !inGolden {
		return word, nil
	}
	was, is := content.Side{Outcome: &old.Outcome, Open: m.base.Content}.Cached(), content.KeptSide(&rec.Outcome, m.found[c.part].Content).Cached()
	left, err := content.VaryingIn(m.run.Job.Rules, was)
	if err != nil {
		return word, err
	}
	left = left.With(&rec.Outcome)
	word.Masked, word.Ignored, word.Holes = left.Masked, left.Ignored, left.Holes
	cmp, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(m.run.Job.Rules, was, is))
	if err != nil {
		return word, err
	}
	return word, m.run.Differences.Report(&word, caseName, 0, was, is, cmp)
}

// keepOutcome puts an outcome into the store of the merged run.
func (m *merging) keepOutcome(ctx context.Context, rec golden.Record, from *golden.Store) (err error) {
	if m.kept == nil {
		if m.kept, err = golden.Create(m.run.Folder.Outcomes(), from.Meta()); err != nil {
			return err
		}
	}
	return m.kept.Put(ctx, rec, from.Content)
}
