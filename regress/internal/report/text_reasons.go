package report

import (
	"regexp"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
)

// reasons collects failures of the machine, and prints each reason in full once: one fault of a
// machine or engine often fails many cases with the same long text.
type reasons struct {
	known map[string]*reason // by their words, without numbers and the case's name
	order []*reason
}

// reason is the failure of some cases.
type reason struct {
	first string // the case whose line has the full text
	cases int
}

const (
	reasonsMax      = 100 // bound of the reasons that are distinguished
	reasonsNamedMax = 3
	reasonColumns   = 40 // bound of a case's name
)

var figuresInWords = regexp.MustCompile(`[0-9]+`)

// once returns a case that the machine failed. It shortens a reason that an earlier case had.
func (r *reasons) once(c Case) Case {
	if c.Verdict != regress.EnvironmentFailed || c.Why == "" {
		return c
	}
	own := name.Print(c.Name)
	key := figuresInWords.ReplaceAllString(strings.TrimPrefix(c.Why, own+": "), "0")
	if known := r.known[key]; known != nil {
		known.cases++
		c.Why = "as " + known.first
		return c
	}
	if len(r.known) < reasonsMax {
		if r.known == nil {
			r.known = map[string]*reason{}
		}
		r.known[key] = &reason{shorten(own, reasonColumns), 1}
		r.order = append(r.order, r.known[key])
	}
	return c
}

// counts returns the number of cases for each reason that several cases have.
func (r *reasons) counts() string {
	var words []string
	for _, one := range r.order {
		if one.cases > 1 {
			words = append(words, readable.Number(one.cases)+" as "+one.first)
		}
	}
	if more := len(words) - reasonsNamedMax; more > 0 {
		words = append(words[:reasonsNamedMax], readable.Count(more, "more reason"))
	}
	return strings.Join(words, ", ")
}
