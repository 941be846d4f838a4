package regress

import (
	"context"
	"slices"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/partglob"
)

// ignoring picks the parts that --ignore names. They are never compared, and no store keeps
// their contents: an outcome has them as parts of the form outcome.Ignored.
type ignoring []*partglob.Pattern

func parseIgnore(globs []string) (ignoring, error) {
	list := make(ignoring, 0, len(globs))
	for _, text := range globs {
		p, err := partglob.Compile(text)
		if err != nil {
			return nil, fault.Inputf("--ignore %q: %w", text, err)
		}
		list = append(list, p)
	}
	return list, nil
}

func (list ignoring) match(k outcome.Key) bool {
	return slices.ContainsFunc(list, func(p *partglob.Pattern) bool { return p.Match(k) })
}

// ignoringExecutor is an executor whose results have Ignored parts. The digests of outcomes
// are made afterwards: an ignored log that differs each time makes no difference.
type ignoringExecutor struct {
	exec.Executor
	list ignoring
}

// ignoringCrew returns the crew, or one that ignores what the options name. A single case
// that people look at has all of its parts.
func (s *session) ignoringCrew(crew exec.Executor) exec.Executor {
	if len(s.ignored) == 0 || s.name == runCommand {
		return crew
	}
	return ignoringExecutor{crew, s.ignored}
}

// Run implements exec.Executor.
func (e ignoringExecutor) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	r, err := e.Executor.Run(ctx, j)
	return e.mark(r), err
}

// RunAll implements exec.Executor.
func (e ignoringExecutor) RunAll(ctx context.Context, b exec.Batch) int {
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) { ended(i, e.mark(r), err) }
	return e.Executor.RunAll(ctx, b)
}

func (e ignoringExecutor) mark(r *exec.Result) *exec.Result {
	if r != nil {
		r.Outcome.Ignore(e.list.match)
	}
	return r
}

// uncompared names the parts of a case that were not compared.
type uncompared struct {
	masked  []string // as the golden outcome varies there, or a limit ended it
	ignored []string // as --ignore names them on either side
}

// uncomparedIn returns what is not compared of an outcome in any further run.
func uncomparedIn(o *outcome.Outcome) uncompared {
	return uncompared{maskedParts(o), ignoredParts(o)}
}

// with adds the ignored parts of the run that was compared.
func (u uncompared) with(now *outcome.Outcome) uncompared { return u.plus(ignoredParts(now)) }

// plus adds ignored parts. A part is counted once, however many reasons it has.
func (u uncompared) plus(ignored []string) uncompared {
	if u.ignored = unionOf(u.ignored, ignored); len(u.ignored) == 0 {
		return u
	}
	u.masked = slices.DeleteFunc(u.masked, func(part string) bool {
		_, isIgnored := slices.BinarySearch(u.ignored, part)
		return isIgnored
	})
	return u
}

// plusPrinted adds ignored parts by their printed names.
func (u uncompared) plusPrinted(names []string) (uncompared, error) {
	ignored := make([]string, len(names))
	for i, text := range names {
		var err error
		if ignored[i], err = name.Parse(text); err != nil {
			return u, fault.Inputf("what the run kept of its cases is damaged: %w: run without --resume", err)
		}
	}
	return u.plus(ignored), nil
}

// unionOf returns the elements of both lists, sorted, each once.
func unionOf(a, b []string) []string {
	return setOf(slices.Concat(a, b))
}

// ignoredParts names the parts of an outcome that are ignored.
func ignoredParts(o *outcome.Outcome) (names []string) {
	for _, k := range o.IgnoredParts() {
		names = append(names, outcome.PartName(k))
	}
	return names
}
