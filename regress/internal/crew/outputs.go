package crew

import (
	"context"
	"path"
	"strings"
	"sync"
	"time"

	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// A Lookup returns the record that a golden has of a case. Several goroutines may call it.
type Lookup func(caseName string) (golden.Record, bool, error)

// FilesLeft returns a function for Setup.Left: the files that a golden knows of a case.
func FilesLeft(known Lookup) func(caseName string) []string {
	return func(caseName string) (names []string) {
		rec, _, err := known(caseName)
		if err != nil {
			return nil // the comparison reports it
		}
		for _, p := range rec.Outcome.Parts {
			if p.Place == outcome.File {
				names = append(names, p.Path)
			}
		}
		return names
	}
}

// outputs are the names that an engine is asked for if it does not give back the whole work
// folder.
type outputs struct {
	patterns []string
	left     func(caseName string) []string // may be nil
}

// warnPartial warns that some files are not seen. It refuses a pattern that names nothing.
func (o *outputs) warnPartial(warn func(string)) error {
	for _, pattern := range o.patterns {
		if _, _, err := splitPattern(pattern, "x"); err != nil {
			return err
		}
	}
	warn("the engine does not give back the whole work folder: files that neither the golden nor the key output of [engine] names are not seen")
	return nil
}

// of returns the names to ask for, and a function that reports whether a returned file counts.
func (o *outputs) of(job exec.Job) (names []string, counts func(string) bool) {
	var f fileFilter
	for _, pattern := range o.patterns {
		one, globs, err := splitPattern(pattern, job.Source.Name)
		if err != nil {
			continue // it was refused before the first case
		}
		if names = append(names, one); globs != nil {
			f.globs = append(f.globs, globs)
			continue
		}
		f.add(one)
	}
	if o.left != nil {
		left := o.left(job.Source.Name)
		f.add(left...)
		names = append(names, left...)
	}
	return names, f.matches
}

// fileFilter matches named files, files in named folders, and files that a glob matches.
type fileFilter struct {
	named map[string]bool
	globs []*glob.Set
}

func (f *fileFilter) add(names ...string) {
	if f.named == nil {
		f.named = make(map[string]bool, len(names))
	}
	for _, name := range names {
		f.named[name] = true
	}
}

func (f *fileFilter) matches(file string) bool {
	for at := file; at != "."; at = path.Dir(at) {
		if f.named[at] {
			return true
		}
	}
	for _, globs := range f.globs {
		if globs.Match(file) {
			return true
		}
	}
	return false
}

// splitPattern returns the name that a pattern asks for. If the pattern has wildcards, that is
// the folder before the first one, and globs say which of its files count.
func splitPattern(pattern, caseName string) (wanted string, globs *glob.Set, err error) {
	wanted = pattern
	for strings.ContainsAny(exec.Fill(wanted, "x"), `*?[{\`) { // not those of the case's name
		wanted = wanted[:max(0, strings.LastIndexByte(wanted, '/'))]
	}
	if wanted != pattern {
		if globs, err = glob.Compile(path.Clean(exec.Fill(pattern, quoteGlob(caseName)))); err != nil {
			return "", nil, err
		}
	}
	if wanted = path.Clean(exec.Fill(wanted, caseName)); wanted == "." {
		return "", nil, fault.Inputf("[engine] output %s: this engine does not give back the whole work folder, so it must be asked for names, as {stem}.s, or for what is in a folder, as out/**", pattern)
	}
	return wanted, globs, nil
}

// quoteGlob returns the glob that matches only the name.
func quoteGlob(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(`*?[]{},\`, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// taking passes each result of another executor to take, and then to its caller, with take's error.
type taking struct {
	exec.Executor
	take func(ctx context.Context, caseName string, r *exec.Result, err error) error
}

func (e taking) RunAll(ctx context.Context, b exec.Batch) int {
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) { ended(i, r, e.take(ctx, b.Jobs[i].Source.Name, r, err)) }
	return e.Executor.RunAll(ctx, b)
}

// runCounter sums up the runs on an engine. Several goroutines may use it.
type runCounter struct {
	mu  sync.Mutex
	all report.EngineSum
}

// count returns an executor whose runs are counted, if they have a result.
func (c *runCounter) count(e exec.Executor) exec.Executor {
	return taking{e, func(_ context.Context, caseName string, r *exec.Result, err error) error {
		if r != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.all.Add(caseName, r.Engine, time.Now())
		}
		return err
	}}
}

func (c *runCounter) sum() *regress.EngineRuns {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.Runs()
}

// Finish returns an executor that completes the results of another one. It marks the parts to ignore before the
// digests of outcomes are made: an ignored log that differs each time makes no difference. It applies each rule until it
// has matched once: comparisons skip equal parts, so a useful rule could seem unused. And it blames the machine for
// errors, unless the context ended.
func Finish(e exec.Executor, ignored content.IgnoreList, rules normalize.Rules) exec.Executor {
	return taking{e, func(ctx context.Context, _ string, r *exec.Result, err error) error {
		switch {
		case err != nil && ctx.Err() == nil && regress.ClassOf(err) != regress.Environment:
			return fault.Environmentf("%w", err)
		case r == nil:
			return err
		case len(ignored) > 0:
			r.Outcome.Ignore(ignored.Match)
		}
		for _, p := range r.Outcome.Parts {
			if len(rules) > 0 && p.Form == outcome.Regular && rules.AwaitMatch(p.Key) {
				_, _ = content.Shown(rules, r.Open, &p) // the comparison returns its error
			}
		}
		return err
	}}
}

// A Settler decides between two endings that an engine reports alike: it gives a run the ending
// that the golden has of the case. Accepts may leave a golden with outcomes of this machine
// and of an engine. Each outcome says which it is. The zero Settler changes nothing: all
// outcomes are of this machine. Several goroutines may use a Settler.
type Settler struct{ known Lookup }

// NewSettler returns a Settler for runs that are compared with a golden.
func NewSettler(known Lookup) Settler { return Settler{known} }

// Settle gives a run of a case its ending.
func (s Settler) Settle(caseName string, o *outcome.Outcome) {
	if s.known == nil || !outcome.HasTwoReadings(o.Ending) {
		return
	}
	if old, ok, err := s.known(caseName); err == nil && ok { // the comparison reports the error
		o.Settle(&old.Outcome)
	}
}

// Decorate returns an executor whose results are settled.
func (s Settler) Decorate(e exec.Executor) exec.Executor {
	if s.known == nil {
		return e
	}
	return taking{e, func(_ context.Context, caseName string, r *exec.Result, err error) error {
		if err == nil {
			s.Settle(caseName, &r.Outcome)
		}
		return err
	}}
}
