package past

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/cause"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// Groups prints the causes of the differences of a past run. Causes with the most cases come first.
// An empty id means the last run.
func Groups(_ context.Context, o regress.Options, h host.Host, id string) error {
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
	if o.Report.Format == regress.JSON {
		return groupLines(h.Stdout, found)
	}
	return groupTable(h.Stdout, p, found, decided)
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
}

func groupLines(w io.Writer, found *cause.Found) error {
	for _, c := range found.Causes {
		err := report.EncodeLine(w, groupLine{
			"group", c.ID, c.Signature, c.Cases, c.Lines, c.Sole, name.Print(c.Example), name.Print(c.Smallest),
			c.Name, string(c.Kind), c.Family,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func groupTable(w io.Writer, p *pastrun.Past, found *cause.Found, decided map[string]review.State) error {
	b := &strings.Builder{}
	cases := len(found.Members)
	switch {
	case cases == 0:
		fmt.Fprintf(b, "run %s: no case differs\n", p.Run.ID)
	case found.Rewritten:
		fmt.Fprintf(b, "run %s: %s in nearly everything, so that there are no causes to tell apart\n", p.Run.ID, readable.CasesDo(cases, "differ"))
	default:
		fmt.Fprintf(b, "run %s: %s, %s%s\n", p.Run.ID, readable.CasesDo(cases, "differ"), readable.Count(len(found.Causes), "cause"), inFamilies(found))
	}
	for _, c := range found.Causes {
		fmt.Fprintf(b, "%-4s %7s  %7s only this  %9s  %s%s\n", c.ID, readable.Number(c.Cases), readable.Number(c.Sole),
			readable.Count(c.Lines, "line"), c.Name, decidedText(decided[c.ID]))
		if c.Family != "" {
			fmt.Fprintf(b, "     family   %s\n", c.Family)
		}
		fmt.Fprintf(b, "     smallest %s\n", name.Print(c.Smallest))
	}
	if n := countUnpromoted(p, found, decided); n > 0 {
		are, them := "accepted cases are", "them"
		if n == 1 {
			are, them = "accepted case is", "it"
		}
		fmt.Fprintf(b, "%s %s not in the golden yet: muster review, or muster accept G1, puts %s there\n", readable.Number(n), are, them)
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
			return fmt.Sprintf("muster show %s, muster accept %s, muster review", c.ID, c.ID)
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

// inFamilies counts the families and the causes without a family. It returns "" for no families.
func inFamilies(found *cause.Found) string {
	families, none := map[string]bool{}, 0
	for _, c := range found.Causes {
		if c.Family == "" {
			none++
		}
		families[c.Family] = true
	}
	delete(families, "")
	if len(families) == 0 {
		return ""
	}
	noun := "families"
	if len(families) == 1 {
		noun = "family"
	}
	return fmt.Sprintf(" (%d %s, %d in none)", len(families), noun, none)
}

func decidedText(d review.State) string {
	if d == "" {
		return ""
	}
	return "  (" + string(d) + ")"
}
