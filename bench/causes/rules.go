package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"muster/bench/causes/basic"
)

// Limits for rules.
const (
	plantedExact   = 0.99 // held-out cases of planted changes that follow byte for byte
	forgottenFound = 0.95 // forgotten places that are found
	alarmsMost     = 1.0  // other places that are called forgotten, for 1,000 cases
	unchangedLeast = 10_000
)

// rule is what muster knows of the rule of a cause.
type rule struct {
	Uniform                                    bool
	Cases, Exact, Places, Explained, Unchanged int
	Elsewhere, Forgotten                       int
	Examples, Misses                           []rulePlace
}

type rulePlace struct {
	Case, Part string
	Line       int
}

// ruleSum sums up the rules of the causes of a comparison.
type ruleSum struct {
	causes, with, uniform    int
	cases, exact             int // held out, of all causes that rules were looked for
	uniformCases, uniformAll int // cases that show nothing but uniform causes, and all that differ
	unchanged, elsewhere     int // outputs that were read, and matches there, of all rules
	forgotten                int
}

func sumRules(f *found) (s ruleSum) {
	isUniform := make([]bool, len(f.causes))
	for i, c := range f.causes {
		s.causes++
		if c.Rule == nil {
			continue
		}
		s.with++
		s.cases, s.exact = s.cases+c.Rule.Cases, s.exact+c.Rule.Exact
		s.forgotten, s.elsewhere = s.forgotten+c.Rule.Forgotten, s.elsewhere+c.Rule.Elsewhere
		s.unchanged = max(s.unchanged, c.Rule.Unchanged)
		if isUniform[i] = c.Rule.Uniform; c.Rule.Uniform {
			s.uniform++
		}
	}
	s.uniformAll = len(f.members)
	for _, m := range f.members {
		if !slices.ContainsFunc(m.causes, func(c int) bool { return !isUniform[c] }) {
			s.uniformCases++
		}
	}
	return s
}

func (s ruleSum) share() float64 { return float64(s.exact) / float64(max(1, s.cases)) }

const rulesHead = "| causes | with a rule looked for | uniform | held-out cases | byte for byte | differing cases of uniform causes alone | unchanged outputs read | matches there | forgotten places |\n|---|---|---|---|---|---|---|---|---|---|\n"

func (s ruleSum) row() string {
	return fmt.Sprintf("%d | %d | %d | %d | %d (%.1f %%) | %d of %d | %d | %d | %d |", s.causes, s.with, s.uniform, s.cases, s.exact, 100*s.share(),
		s.uniformCases, s.uniformAll, s.unchanged, s.elsewhere, s.forgotten)
}

// emitterRules measures the rules of planted changes: all places, nine of ten, and beside many outputs that stay.
func (b *bench) emitterRules(ctx context.Context) error {
	for _, t := range [...]struct {
		word  string
		print func(context.Context, *emitting) error
	}{{planted, b.plantedRules}, {forgotten, b.forgottenRules}, {unchanged, b.unchangedRules}, {alike, b.unchangedRules}} {
		if !slices.Contains(b.only, t.word) {
			continue
		}
		w, err := b.emitting(ctx, t.word)
		if err != nil {
			return err
		}
		var stay []source
		if t.word == unchanged || t.word == alike {
			if stay, err = goFiles(ctx, t.word == alike); err != nil {
				return err
			}
		}
		if err := w.programs(ctx, stay...); err != nil {
			return err
		}
		if err := errors.Join(t.print(ctx, w), os.RemoveAll(w.dir)); err != nil {
			return err
		}
	}
	return nil
}

// ten are all changes.
func ten() []basic.Change { return append(basic.Eight(), basic.Suffix, basic.Comment) }

// changesChosen returns the changes that are asked for, one by one.
func (b *bench) changesChosen() []basic.Change {
	return slices.DeleteFunc(ten(), func(c basic.Change) bool { return !slices.Contains(b.changes, string(c)) })
}

// plantedRules measures the rules of changes that were made everywhere.
func (b *bench) plantedRules(ctx context.Context, w *emitting) error {
	fmt.Fprintf(b.out, "\n%d programs.\n\n| changes "+rulesHead, b.sources)
	var sets [][]basic.Change
	for _, set := range [][]basic.Change{basic.Eight(), ten()} {
		if slices.Contains(b.changes, strconv.Itoa(len(set))) {
			sets = append(sets, set)
		}
	}
	for _, c := range b.changesChosen() {
		sets = append(sets, []basic.Change{c})
	}
	var all ruleSum
	for i, set := range sets {
		f, err := w.scan(ctx, fmt.Sprintf("rules%d", i), w.command(set...))
		if err != nil {
			return err
		}
		s := sumRules(&f)
		all.cases, all.exact, all.elsewhere = all.cases+s.cases, all.exact+s.exact, all.elsewhere+s.elsewhere
		name := string(set[0])
		if len(set) > 1 {
			name = fmt.Sprintf("%d at once", len(set))
		}
		fmt.Fprintf(b.out, "| %s | %s\n", name, s.row())
		b.explain(f)
	}
	fmt.Fprintf(b.out, "\nOf %d held-out cases %.2f %% follow byte for byte, with %d matches in unchanged outputs (limit ≥ %.0f %%, 0: %s).\n", all.cases, 100*all.share(), all.elsewhere,
		100*plantedExact, verdict(all.share() >= plantedExact && all.elsewhere == 0))
	return nil
}

// unchangedRules measures how often the rules of ten changes match in the outputs of sources that the emitter prints
// as they are.
func (b *bench) unchangedRules(ctx context.Context, w *emitting) error {
	f, err := w.scan(ctx, "unchanged", w.command(ten()...))
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n%d programs, and the sources of Go, which stay; these are named %s.\n\n| cause | uniform | held-out cases | byte for byte | unchanged outputs read | matches there | forgotten places |\n|---|---|---|---|---|---|---|\n", b.sources, map[bool]string{true: "*.go.bas", false: "*.go"}[filepath.Base(w.dir) == alike])
	for _, c := range f.causes {
		if r := c.Rule; r != nil {
			fmt.Fprintf(b.out, "| %s | %t | %d | %d | %d | %d | %d |\n", strings.ReplaceAll(c.Name, "|", "¦"), r.Uniform, r.Cases, r.Exact, r.Unchanged, r.Elsewhere, r.Forgotten)
		}
	}
	s := sumRules(&f)
	fmt.Fprintf(b.out, "\n%d matches in %d unchanged outputs (limit 0 in ≥ %d: %s).\n", s.elsewhere, s.unchanged, unchangedLeast, verdict(s.elsewhere == 0 && s.unchanged >= unchangedLeast))
	b.explain(f)
	return nil
}

// goFiles returns sources of Go, which the emitter prints as they are. With alike, their names end as those of programs do.
func goFiles(ctx context.Context, alike bool) ([]source, error) {
	root, err := goroot(ctx)
	if err != nil {
		return nil, err
	}
	all, err := below(root, ".go", "src", "test")
	for i := range all {
		if alike {
			all[i].name += ".bas"
		}
	}
	return all, err
}

// forgottenRules measures changes that were made at nine of ten places, by chance.
func (b *bench) forgottenRules(ctx context.Context, w *emitting) error {
	fmt.Fprintf(b.out, "\n%d programs.\n\n| change, forgotten at a tenth of its places | lines with such places | listed | of these right | places called forgotten |\n|---|---|---|---|---|\n", b.sources)
	listed, hits, wanted := 0, 0, 0
	changes := b.changesChosen()
	for _, change := range changes {
		f, err := w.scan(ctx, "forgot-"+string(change), append(w.command(change), forgetWord))
		if err != nil {
			return err
		}
		truth := map[string]bool{}
		for name, text := range w.texts {
			_, lines := basic.CompileForgetting(text, basic.Forgetting(text), change)
			for l := range lines {
				truth[fmt.Sprintf("%s:%d", name, l)] = true
			}
		}
		seen, right, places := map[string]bool{}, map[string]bool{}, 0
		for _, cause := range f.causes {
			if cause.Rule == nil {
				continue
			}
			places += cause.Rule.Forgotten
			for _, f := range cause.Rule.Examples {
				at := fmt.Sprintf("%s:%d", f.Case, f.Line)
				if seen[at] {
					continue
				}
				seen[at] = true
				for _, d := range [...]int{0, 1, -1} { // a new line may be said to be at either side
					if k := fmt.Sprintf("%s:%d", f.Case, f.Line+d); truth[k] {
						right[k] = true
						break
					}
				}
			}
		}
		n := min(len(truth), examplesListed)
		listed, hits, wanted = listed+len(seen), hits+min(len(right), n), wanted+n
		fmt.Fprintf(b.out, "| %s | %d | %d | %d | %d |\n", change, len(truth), len(seen), len(right), places)
	}
	found, alarms := float64(hits)/float64(max(1, wanted)), float64(listed-hits)*1000/float64(max(1, len(w.texts)*len(changes)))
	fmt.Fprintf(b.out, "\nFound: %.1f %% of the lines, or of the 200 that are listed (limit ≥ %.0f %%: %s). Other places: %.2f for 1,000 cases (limit ≤ %.0f: %s).\n",
		100*found, 100*forgottenFound, verdict(found >= forgottenFound), alarms, alarmsMost, verdict(alarms <= alarmsMost))
	return nil
}

// examplesListed is how many places muster lists of a cause.
const examplesListed = 200

// forgetWord is the argument that has the emitter forget a tenth of the places.
const forgetWord = "--forget"

// ruleRow prints the rules of a pair of real tools.
func (b *bench) ruleRow(p pair, f found) {
	fmt.Fprintf(b.out, "| %s %s | %s\n", p.name, p.versions, sumRules(&f).row())
	if !p.untuned {
		b.explain(f)
	}
}

// explain prints the rule of each cause to standard error, with edits that it does not make.
func (b *bench) explain(f found) {
	for _, c := range f.causes {
		if c.Rule != nil {
			fmt.Fprintf(os.Stderr, "  %s %s: %d cases, %+v\n", c.ID, strings.ToValidUTF8(c.Name, "?"), c.Cases, *c.Rule)
		}
	}
}
