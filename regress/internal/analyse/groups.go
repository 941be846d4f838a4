package analyse

import (
	"muster/internal/readable"
	"muster/regress/internal/cause"
	"muster/regress/internal/diff"
	"muster/regress/internal/normalize"
	"muster/regress/internal/report"
)

// EmitGroups calls emit for each cause, with the names of its cases. The first excerptsMax have
// an excerpt.
func EmitGroups(found *cause.Found, rules normalize.Rules, sides SidesOf, emit func(report.Group)) error {
	members := CasesByCause(found)
	for i, c := range found.Causes {
		g := report.Group{Cause: c, Members: members[i]}
		if i < excerptsMax {
			var err error
			if g.Excerpt, err = Excerpt(found, i, c.Example, rules, sides, diff.Excerpt); err != nil {
				return err
			}
		}
		emit(g)
	}
	return nil
}

// excerptsMax bounds the causes with an excerpt. The others have only a name.
const excerptsMax = 500

// CasesByCause lists the names of the cases of each cause.
func CasesByCause(f *cause.Found) [][]string {
	members := make([][]string, len(f.Causes))
	for _, m := range f.Members {
		for _, i := range m.Causes {
			members[i] = append(members[i], m.Name)
		}
	}
	return members
}

// MakePrintable puts the names of causes on one line each, and replaces characters that hide text
// or control a terminal, because names contain output of tools. It changes f and returns it.
func MakePrintable(f *cause.Found) *cause.Found {
	for i := range f.Causes {
		c := &f.Causes[i]
		c.Name, c.Family = readable.Line(c.Name), readable.Line(c.Family)
	}
	return f
}
