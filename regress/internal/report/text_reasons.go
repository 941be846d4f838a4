package report

import (
	"regexp"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
)

// reasons are what failed, each told once: where a machine or an engine fails, it mostly
// fails many cases in the same long words.
type reasons struct {
	told  map[string]*reason // by the words, but for numbers and the case's name
	order []*reason
}

// reason is what failed for some cases.
type reason struct {
	first string // the case that has the words
	cases int
}

const (
	reasonsMax      = 100 // that are told apart
	reasonsNamedMax = 3
	reasonColumns   = 40 // of the name of a case
)

var figuresInWords = regexp.MustCompile(`[0-9]+`)

// once returns a case that the machine failed with a short word for what a case before had.
func (r *reasons) once(c Case) Case {
	if c.Verdict != regress.MachineFailed || c.Why == "" {
		return c
	}
	own := name.Print(c.Name)
	key := figuresInWords.ReplaceAllString(strings.TrimPrefix(c.Why, own+": "), "0")
	if known := r.told[key]; known != nil {
		known.cases++
		c.Why = "as " + known.first
		return c
	}
	if len(r.told) < reasonsMax {
		if r.told == nil {
			r.told = map[string]*reason{}
		}
		r.told[key] = &reason{shorten(own, reasonColumns), 1}
		r.order = append(r.order, r.told[key])
	}
	return c
}

// counts says how many cases failed for each, where it is the same for several.
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
