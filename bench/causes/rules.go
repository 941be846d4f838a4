package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"muster/bench/causes/basic"
)

// Limits for rules.
const (
	plantedExact   = 0.99 // held-out cases of planted changes that follow byte for byte
	realExact      = 0.60 // held-out cases of uniform causes of real tools
	forgottenFound = 0.95 // forgotten places that are found
	alarmsMost     = 1.0  // other places that are called forgotten, for 1,000 cases
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
	unchanged, elsewhere     int // of uniform causes
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
		s.forgotten += c.Rule.Forgotten
		if isUniform[i] = c.Rule.Uniform; c.Rule.Uniform {
			s.uniform++
			s.unchanged = max(s.unchanged, c.Rule.Unchanged)
			s.elsewhere += c.Rule.Elsewhere
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

const rulesHead = "| causes | with a rule looked for | uniform | held-out cases | byte for byte | differing cases of uniform causes alone | unchanged outputs read | matches there | forgotten places |\n"

func (s ruleSum) row() string {
	return fmt.Sprintf("%d | %d | %d | %d | %d (%.1f %%) | %d of %d | %d | %d | %d |", s.causes, s.with, s.uniform, s.cases, s.exact, 100*s.share(),
		s.uniformCases, s.uniformAll, s.unchanged, s.elsewhere, s.forgotten)
}

// plantedRules measures the rules of planted changes, and of changes that were forgotten at some places.
func (b *bench) plantedRules(ctx context.Context) error {
	w, err := b.emitting(ctx, planted)
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.dir)
	texts, err := w.programs(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n| changes "+rulesHead+"|---|---|---|---|---|---|---|---|---|---|\n")
	changes := append(basic.Eight(), basic.Suffix, basic.Comment)
	sets := [][]basic.Change{basic.Eight(), changes}
	for _, c := range changes {
		sets = append(sets, []basic.Change{c})
	}
	var all ruleSum
	for i, set := range sets {
		c, err := w.check(ctx, fmt.Sprintf("rules%d", i), w.command(set...), 1)
		if err != nil {
			return err
		}
		s := sumRules(&c.found)
		all.cases, all.exact, all.elsewhere = all.cases+s.cases, all.exact+s.exact, all.elsewhere+s.elsewhere
		name := string(set[0])
		if len(set) > 1 {
			name = fmt.Sprintf("%d at once", len(set))
		}
		fmt.Fprintf(b.out, "| %s | %s\n", name, s.row())
		if err := os.Remove(c.now); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.out, "\nOf %d held-out cases %.2f %% follow byte for byte, with %d matches in unchanged outputs (limit ≥ %.0f %%, 0: %s).\n", all.cases, 100*all.share(), all.elsewhere,
		100*plantedExact, verdict(all.share() >= plantedExact && all.elsewhere == 0))
	return b.forgotten(ctx, w, texts, changes)
}

// forgotten measures changes that were made at nine of ten places, by chance.
func (b *bench) forgotten(ctx context.Context, w *emitting, texts map[string][]byte, changes []basic.Change) error {
	fmt.Fprint(b.out, "\n| change, forgotten at a tenth of its places | lines with such places | listed | of these right | places called forgotten |\n|---|---|---|---|---|\n")
	listed, hits, wanted := 0, 0, 0
	for _, change := range changes {
		c, err := w.check(ctx, "forgot-"+string(change), append(w.command(change), forgetWord), 1)
		if err != nil {
			return err
		}
		truth := map[string]bool{}
		for name, text := range texts {
			_, lines := basic.CompileForgetting(text, basic.Forgetting(text), change)
			for l := range lines {
				truth[fmt.Sprintf("%s:%d", name, l)] = true
			}
		}
		seen, right, places := map[string]bool{}, map[string]bool{}, 0
		for _, cause := range c.found.causes {
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
		if err := os.Remove(c.now); err != nil {
			return err
		}
	}
	found, alarms := float64(hits)/float64(max(1, wanted)), float64(listed-hits)*1000/float64(len(texts)*len(changes))
	fmt.Fprintf(b.out, "\nFound: %.1f %% of the lines, or of the 200 that are listed (limit ≥ %.0f %%: %s). Other places: %.2f for 1,000 cases (limit ≤ %.0f: %s).\n",
		100*found, 100*forgottenFound, verdict(found >= forgottenFound), alarms, alarmsMost, verdict(alarms <= alarmsMost))
	return nil
}

// examplesListed is how many places muster lists of a cause.
const examplesListed = 200

// forgetWord is the argument that has the emitter forget a tenth of the places.
const forgetWord = "--forget"

// ruleRow prints the rules of a pair of real tools.
func (b *bench) ruleRow(p pair, c compared) {
	fmt.Fprintf(b.out, "| %s %s | %s\n", p.name, p.versions, sumRules(&c.found).row())
	for _, x := range c.found.causes {
		if x.Rule != nil && !p.untuned {
			fmt.Fprintf(os.Stderr, "  %s %s: %d cases, %+v\n", x.ID, strings.ToValidUTF8(x.Name, "?"), x.Cases, *x.Rule)
		}
	}
}
