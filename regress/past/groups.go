package past

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/plan"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
)

// Groups prints the causes of the differences of a past run. Causes with the most cases come first,
// and with byFamily those of one family stand together.
// An empty id means the last run.
func Groups(_ context.Context, o regress.Options, h host.Host, id string, byFamily bool) error {
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return err
	}
	found, err := p.Run.Causes()
	if err != nil {
		return err
	}
	decided, err := p.Run.Decisions()
	if err != nil {
		return err
	}
	families := []family{{causes: found.Causes}}
	if byFamily {
		families = familiesOf(found)
	}
	if o.Report.Format == regress.JSON {
		return groupLines(h.Stdout, families)
	}
	return groupTable(h.Stdout, p, found, decided, families)
}

// A family is causes that are listed together.
type family struct {
	name   string // empty if they have nothing in common
	cases  int    // that show at least one
	causes []cause.Cause
}

// familiesOf returns the families of the causes, those with most cases first, and then the causes
// without one.
func familiesOf(found *cause.Found) (list []family) {
	of := make([]int, len(found.Causes))
	for i, c := range found.Causes {
		of[i] = slices.IndexFunc(list, func(f family) bool { return f.name == c.Family })
		if of[i] < 0 {
			of[i], list = len(list), append(list, family{name: c.Family})
		}
		list[of[i]].causes = append(list[of[i]].causes, c)
	}
	for _, m := range found.Members {
		shown := map[int]bool{}
		for _, c := range m.Causes {
			shown[of[c]] = true
		}
		for f := range shown {
			list[f].cases++
		}
	}
	slices.SortStableFunc(list, func(a, b family) int {
		switch {
		case a.name == "" || b.name == "":
			return cmp.Compare(len(b.name), len(a.name))
		}
		return cmp.Compare(b.cases, a.cases)
	})
	return list
}

// groupLine is a cause for scripts. They rely on the keys and their order.
type groupLine struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Signature string `json:"signature"`
	Cases     int    `json:"cases"`
	Lines     int    `json:"lines"`
	Sole      int    `json:"sole"`
	Example   string `json:"example"`
	Smallest  string `json:"smallest"`
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Family    string `json:"family"`
	Folded    int    `json:"folded_count,omitempty"`
}

func groupLines(w io.Writer, families []family) error {
	for _, f := range families {
		for _, c := range f.causes {
			err := report.EncodeLine(w, groupLine{
				"group", c.ID, c.Signature, c.Cases, c.Lines, c.Sole, name.Print(c.Example), name.Print(c.Smallest),
				c.Name, string(c.Kind), c.Family, c.Bucketed(),
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func groupTable(w io.Writer, p *pastrun.Past, found *cause.Found, decided map[string]review.State, families []family) error {
	b := &strings.Builder{}
	cases := len(found.Members)
	outside := 0 // cases that no cause explains
	for i := range p.Run.Results {
		if v := p.Run.Results[i].Verdict; v == regress.New || v == regress.Missing || v == regress.Flaky {
			outside++
		}
	}
	switch {
	case cases == 0 && outside > 0:
		fmt.Fprintf(b, "run %s: no causes\n", p.Run.ID)
	case cases == 0:
		fmt.Fprintf(b, "run %s: no case differs\n", p.Run.ID)
	case found.Rewritten:
		fmt.Fprintf(b, "run %s: %s in nearly everything, so that there are no causes to tell apart\n", p.Run.ID, readable.CasesDo(cases, "differ"))
	default:
		fmt.Fprintf(b, "run %s: %s, %s\n", p.Run.ID, readable.CasesDo(cases, "differ"), report.CountCauses(found.Causes))
	}
	for _, f := range families {
		switch {
		case f.name != "":
			fmt.Fprintf(b, "family %s: %s, %s\n", name.Quote(f.name), report.CountCauses(f.causes), readable.Cases(f.cases))
		case len(families) > 1:
			fmt.Fprintf(b, "in no family: %s, %s\n", report.CountCauses(f.causes), readable.Cases(f.cases))
		}
		for _, c := range f.causes {
			fmt.Fprintf(b, "%-4s %7s  %7s with nothing else  %9s  %s%s\n", c.ID, readable.Number(c.Cases), readable.Number(c.Sole),
				readable.Count(c.Lines, "line"), c.Name, decidedText(decided[c.ID]))
			if c.Family != "" && f.name == "" {
				fmt.Fprintf(b, "     family   %s\n", c.Family)
			}
			fmt.Fprintf(b, "     smallest %s\n", name.Print(c.Smallest))
		}
	}
	if n := countUnpromoted(p, found, decided); n > 0 {
		are, them := "accepted cases are", "them"
		if n == 1 {
			are, them = "accepted case is", "it"
		}
		fmt.Fprintf(b, "%s %s not in the golden yet: muster review, or muster accept G1, puts %s there\n", readable.Number(n), are, them)
	}
	if outside > 0 {
		fmt.Fprintf(b, "without a cause (new, missing or flaky): %s; see muster review\n", readable.Cases(outside))
	}
	if cases > 0 {
		fmt.Fprintf(b, "next: %s\n", nextCommands(p, found, decided))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// nextCommands returns the commands to run next. A compare has no golden to accept into. The cause to
// accept is the first one without a decision.
func nextCommands(p *pastrun.Past, found *cause.Found, decided map[string]review.State) string {
	if p.Run.Command != regress.CheckCommand {
		return "muster show G1"
	}
	for _, c := range found.Causes {
		if decided[c.ID] == review.Undecided {
			with := ""
			if c.Bucketed() > 0 {
				with = " --bucket"
			}
			return fmt.Sprintf("muster show %s, muster accept %s%s, muster review", c.ID, c.ID, with)
		}
	}
	if slices.ContainsFunc(p.Run.Results, func(r state.Result) bool { return !r.Accepted }) {
		return "muster show G1, muster review"
	}
	return "muster check, as all of it is accepted"
}

// countUnpromoted counts the cases whose causes are all accepted, and that are not in the golden. The
// golden refused them, or a kill came before it was written.
func countUnpromoted(p *pastrun.Past, found *cause.Found, decided map[string]review.State) (n int) {
	if p.Run.Command != regress.CheckCommand {
		return 0
	}
	r := pastrun.NewAgenda(p.Run.Results, found).Review(decided, pastrun.AcceptedIn(p.Run.Results))
	for i := range r.Cases() {
		if r.Promotable(i) {
			n++
		}
	}
	return n
}

func decidedText(d review.State) string {
	if d == "" {
		return ""
	}
	return "  (" + string(d) + ")"
}

// Diff compares two goldens. It reports as check.Run does, with the old one as the golden.
func Diff(ctx context.Context, o regress.Options, h host.Host, oldPath, newPath string) (sum regress.Summary, err error) {
	old, err := place.Open(ctx, oldPath, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return sum, place.ExplainMissing(oldPath, err)
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	now, err := place.Open(ctx, newPath, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return sum, place.ExplainMissing(newPath, err)
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	other := completeRules(&o, old.Meta(), now.Meta())
	j, err := job.Resolve(o, nil, job.DiffCommand)
	if err != nil {
		return sum, err
	}
	s, err := run.New(j, h)
	if err != nil {
		return sum, err
	}
	if err := run.OpenReporters(s); err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, rule := range other {
		was, is := old.Meta().Flags[rule.Name()], now.Meta().Flags[rule.Name()]
		s.Events.Warn(fmt.Sprintf("%s was recorded with %s, %s with %s: the first counts", oldPath, rule.Worded(was), newPath, rule.Worded(is)))
	}
	began := report.Started{Command: s.Job.Name, Tool: newPath, Against: oldPath, At: s.Began, Allowed: job.ParseAllowed(&s.Job.Options)}
	return diffGoldens(ctx, s, old.Store, now.Store, began)
}

// completeRules fills in how parts are compared, where it was not given, from a golden. It
// returns the settings that the other golden has otherwise.
func completeRules(o *regress.Options, old, now golden.Meta) (other []job.Setting) {
	for _, s := range job.OutcomeSettings() {
		if s.Scope != job.OfVerdict || s.IsGiven(o) {
			continue
		}
		s.Complete(o, old.Flags[s.Name()])
		if old.Flags[s.Name()] != now.Flags[s.Name()] {
			other = append(other, s)
		}
	}
	return other
}

// diffGoldens reports every selected case of two goldens, and the causes of all differences.
func diffGoldens(ctx context.Context, s *run.Run, old, now *golden.Store, began report.Started) (regress.Summary, error) {
	names := selectNames(s.Job.Chooser, old, now)
	if len(names) == 0 {
		return s.Ledger.Summary, fault.Emptyf("none of the cases of the two goldens is selected")
	}
	began.Cases = len(names)
	s.Events.Emit(began)
	for i, caseName := range names {
		if err := ctx.Err(); err != nil {
			return s.Ledger.Summary, err
		}
		word, err := diffCase(s, old, now, caseName)
		if err != nil {
			return s.Ledger.Summary, fmt.Errorf("%s: %w", name.Print(caseName), err)
		}
		word.Name, word.Index = caseName, i
		s.Ledger.Verdict(word)
	}
	s.Ledger.Absent = len(names)
	err := s.Finish(s.ReportGroups(func(name string) (was, is content.Side, err error) {
		was, is, err = analyse.StoredSides(old, now, name)
		if err == nil {
			was.Outcome.Ignore(s.Job.Ignored.Match)
			is.Outcome.Ignore(s.Job.Ignored.Match)
		}
		return was, is, err
	}))
	return s.Ledger.Summary, err
}

// selectNames returns the selected names of both, sorted.
func selectNames(chooser *plan.Chooser, old, now *golden.Store) []string {
	names := slices.AppendSeq(slices.Collect(old.Names()), now.Names())
	slices.Sort(names)
	names = slices.Compact(names)
	chosen := chooser.Choose(names, plan.Baseline{}).Run
	for i, at := range chosen {
		names[i] = names[at]
	}
	return names[:len(chosen)]
}

func diffCase(s *run.Run, old, now *golden.Store, caseName string) (word report.Case, err error) {
	a, inOld, err := old.Get(caseName)
	if err != nil {
		return word, err
	}
	b, inNow, err := now.Get(caseName)
	if err != nil {
		return word, err
	}
	switch {
	case !inOld:
		return report.Case{Verdict: regress.New, Ending: &b.Outcome.Ending, Cost: b.Cost}, nil
	case !inNow:
		return report.Case{Verdict: regress.Missing, GoldenEnding: &a.Outcome.Ending}, nil
	}
	a.Outcome.Ignore(s.Job.Ignored.Match)
	b.Outcome.Ignore(s.Job.Ignored.Match)
	b.Outcome.Settle(&a.Outcome)
	was, is := content.Side{Outcome: &a.Outcome, Open: old.Content}.Cached(), content.Side{Outcome: &b.Outcome, Open: now.Content}.Cached()
	c, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(s.Job.Rules, was, is))
	if err != nil {
		return word, err
	}
	word = report.Case{
		Verdict: outcome.Judge(was.Outcome, is.Outcome, c), Ending: &b.Outcome.Ending, GoldenEnding: &a.Outcome.Ending,
		Cost: b.Cost, Flaky: content.FlakyParts(is.Outcome),
	}
	// as in a check: known flaky parts are left out, and newly flaky ones are named
	known, ignored := content.FlakyParts(was.Outcome), content.Union(content.IgnoredParts(was.Outcome), content.IgnoredParts(is.Outcome))
	newly := slices.DeleteFunc(slices.Clone(word.Flaky), func(part string) bool {
		return slices.Contains(known, part) || slices.Contains(ignored, part)
	})
	switch {
	case word.Verdict == regress.Identical && len(newly) > 0:
		word.Verdict, word.Flaky = regress.Flaky, newly
	case len(word.Flaky) == 0:
		word.Flaky = known
	}
	left, err := content.VaryingIn(s.Job.Rules, was)
	if err != nil {
		return word, err
	}
	left.Masked = slices.Concat(newly, left.Masked)
	left = left.Plus(ignored)
	word.Masked, word.Ignored, word.Holes = left.Masked, left.Ignored, left.Holes
	return word, s.Differences.Report(&word, caseName, 0, was, is, c)
}
