package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/corpus"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/partglob"
	"muster/regress/internal/pass"
	"muster/regress/internal/plan"
)

// Inputs are the corpus of a run and the cases that the run selects.
type Inputs struct {
	Corpus     *corpus.Corpus // nil if the run has none
	Cases      []corpus.Entry // selected, in corpus order
	Lacking    []string       // selected cases of the golden that the corpus lacks
	NotSampled int            // cases that --sample left out
	Digests    corpus.Digests // zero before ReadDigests

	path            string         // of the corpus, for errors
	given, recorded plan.Selection // by flags and by the golden, for errors
}

// Selection says which cases a run selects.
type Selection struct {
	Chooser         *plan.Chooser
	Baseline        plan.Baseline  // of the golden; zero without one
	Only            []string       // names; nil = all
	Given, Recorded plan.Selection // by flags and by the golden, for errors
}

// wants reports whether Only has a case.
func (s *Selection) wants() func(caseName string) bool {
	if s.Only == nil {
		return func(string) bool { return true }
	}
	set := make(map[string]bool, len(s.Only))
	for _, caseName := range s.Only {
		set[caseName] = true
	}
	return func(caseName string) bool { return set[caseName] }
}

// NewInputs returns the inputs of a corpus at a path, without any cases.
func NewInputs(c *corpus.Corpus, path string) *Inputs { return &Inputs{Corpus: c, path: path} }

// Choose selects the cases. It refuses a corpus without cases, but not a selection without
// cases: NoneSelected returns the error for that.
func (in *Inputs) Choose(s Selection) error {
	in.given, in.recorded = s.Given, s.Recorded
	all := in.Corpus.Cases()
	if len(all) == 0 {
		return fault.Emptyf("%s holds no case", in.path)
	}
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	chosen, wants := s.Chooser.Choose(names, s.Baseline), s.wants()
	if len(chosen.Run) == len(all) && s.Only == nil {
		in.Cases = all
	} else {
		for _, i := range chosen.Run {
			if wants(names[i]) {
				in.Cases = append(in.Cases, all[i])
			}
		}
	}
	in.Lacking = slices.DeleteFunc(chosen.Missing, func(caseName string) bool { return !wants(caseName) })
	in.NotSampled = chosen.NotSampled
	return nil
}

// NoneSelected returns the error for a selection without cases. It names what selects.
func (in *Inputs) NoneSelected() error {
	text := fmt.Sprintf("none of the %s of %s is selected", readable.Cases(len(in.Corpus.Cases())), in.path)
	given, recorded := name.QuoteAll(in.given.Flags()), name.QuoteAll(in.recorded.Flags())
	switch {
	case given != "" && recorded != "":
		text += " by both " + given + " and the selection of the golden, " + recorded + ": select other cases, or lift the golden's selection with --all-cases"
	case given != "":
		text += " by " + given
	case recorded != "":
		text += ": the golden was recorded with " + recorded + ", and --all-cases lifts that"
	}
	return fault.Emptyf("%s", text)
}

// Names returns the names of the selected cases.
func (in *Inputs) Names() []string {
	names := make([]string, len(in.Cases))
	for i, e := range in.Cases {
		names[i] = e.Name
	}
	return names
}

// Tasks returns a task for each selected case.
func (in *Inputs) Tasks() []pass.Task {
	tasks := make([]pass.Task, len(in.Cases))
	for i := range in.Cases {
		tasks[i] = pass.Task{Index: i, Entry: &in.Cases[i]}
	}
	return tasks
}

// orderTasks returns the tasks in the order in which they run: first the failed cases, then those
// that take long.
func (in *Inputs) orderTasks(failed map[string]bool, took pass.Durations) []pass.Task {
	ordered := make([]pass.Task, 0, len(in.Cases))
	for _, i := range plan.Order(len(in.Cases), func(i int) bool { return failed[in.Cases[i].Name] }, took) {
		ordered = append(ordered, pass.Task{Index: i, Entry: &in.Cases[i]})
	}
	return ordered
}

// Find returns the selected case with a raw or printed name.
func (in *Inputs) Find(typed string) (pass.Task, error) {
	raw, err := name.ParseTyped(typed)
	if err != nil {
		return pass.Task{}, err
	}
	for _, t := range in.Tasks() {
		if t.Entry.Name == raw {
			return t, nil
		}
	}
	return pass.Task{}, fault.Emptyf("no case %s in %s%s: muster cases lists them", name.Print(raw), in.path, name.Near(raw, in.Names()))
}

// Read returns the content of an entry of the corpus.
func (in *Inputs) Read(e corpus.Entry) ([]byte, error) {
	r, err := in.Corpus.Open(e)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(r)
	return content, errors.Join(err, r.Close())
}

// ReadDigests reads the whole corpus, unless it did so before, and sets Digests.
func (in *Inputs) ReadDigests(ctx context.Context) (err error) {
	if in.Digests.Whole == (outcome.Digest{}) {
		in.Digests, err = in.Corpus.Digests(ctx)
	}
	return err
}

// RefuseChanged returns an error if the corpus changed since the run began. It warns of a corpus
// that was written to and did not change: meanwhile it may have had other content.
func (in *Inputs) RefuseChanged(warn func(string)) error {
	if err := in.Corpus.Changed(); err != nil {
		return err
	}
	if in.Corpus.StampNow() != in.Corpus.Stamp() {
		warn(in.path + writtenMeanwhile)
	}
	return nil
}

// writtenMeanwhile ends a warning about a file that was written to and did not change.
const writtenMeanwhile = " was written to or replaced while it ran, and has its old content: run again if it had other content meanwhile"

// Durations returns the durations of the selected cases.
func (in *Inputs) Durations(of func(caseName string) time.Duration) pass.Durations {
	list := make(pass.Durations, len(in.Cases))
	for i, e := range in.Cases {
		list[i] = of(e.Name)
	}
	return list
}

// Close closes the corpus.
func (in *Inputs) Close() error {
	if in.Corpus == nil {
		return nil
	}
	return in.Corpus.Close()
}

// unusedGlobs are the globs of --ignore that have matched no part so far. A glob that matches
// no part in the whole run is probably misspelt.
type unusedGlobs []unusedGlob

type unusedGlob struct {
	text    string
	pattern *partglob.Pattern
}

// drop removes the globs that match one of the ignored parts of a case.
func (g *unusedGlobs) drop(parts []string) {
	for _, part := range parts {
		if len(*g) == 0 {
			return
		}
		k := partKey(part)
		*g = slices.DeleteFunc(*g, func(one unusedGlob) bool { return one.pattern.Match(k) })
	}
}

// partKey is the inverse of outcome.PartName.
func partKey(part string) outcome.Key {
	switch part {
	case "stdout":
		return outcome.Key{Place: outcome.Stdout}
	case "stderr":
		return outcome.Key{Place: outcome.Stderr}
	}
	return outcome.Key{Place: outcome.File, Path: strings.TrimPrefix(part, "./")}
}

// notes returns a text for each glob that is left after all cases.
func (g *unusedGlobs) notes(cases int) (texts []string) {
	for _, one := range *g {
		texts = append(texts, fmt.Sprintf("--ignore %q names no part of %s%s", one.text, readable.Cases(cases), globHint(one.text)))
	}
	return texts
}

// globHint returns a hint for a glob that matches nothing, or "".
func globHint(glob string) string {
	switch {
	case strings.HasPrefix(glob, "/"):
		return ": paths are relative, as reports print them"
	case !strings.ContainsAny(glob, "*?[{"):
		return fmt.Sprintf(": files in a folder are %q", strings.TrimSuffix(glob, "/")+"/**")
	}
	return ""
}
