package bisect

import (
	"muster/internal/readable"
	"muster/regress/internal/bisection"
	"muster/regress/internal/name"
	"strings"
)

// history is what each version shows of a cause.
type history struct {
	versions []Version
	states   []bisection.State // by the index of the version
}

// sentence reports which versions brought and removed the cause.
func (h history) sentence() string {
	changes, oldest := bisection.Changes(h.states)
	open, why := h.open()
	switch {
	case oldest < 0:
		return "every version is inconclusive"
	case len(changes) == 0 && h.states[oldest] == bisection.Shown:
		return h.oldest(oldest) + " has it already"
	case len(changes) == 0 && open == 0:
		return "no version has it"
	case len(changes) == 0 && 2*open > len(h.states):
		return "unknown: " + why + ", and the others are without it"
	case len(changes) == 0:
		return "no conclusive version has it: " + why
	case len(changes) == 1 && changes[0].Came:
		return h.by(changes[0]) + " brought it"
	}
	var words []string
	if h.states[oldest] == bisection.Shown {
		words = append(words, h.oldest(oldest)+" has it already")
	}
	came := h.states[oldest] == bisection.Shown
	for _, c := range changes {
		word := "it went with "
		if c.Came {
			word = "it came with "
			if came {
				word = "it came again with "
			}
			came = true
		}
		words = append(words, word+h.by(c))
	}
	return strings.Join(words, ", ")
}

// oldest names the oldest version with a result.
func (h history) oldest(i int) string {
	if i > 0 {
		return h.version(i) + ", the oldest conclusive version,"
	}
	return h.version(i) + ", the oldest,"
}

// open counts the versions without a result, and says why they have none.
func (h history) open() (n int, why string) {
	inconclusive, notRun := 0, 0
	for _, s := range h.states {
		switch s {
		case bisection.Inconclusive:
			inconclusive++
		case bisection.NotAsked:
			notRun++
		}
	}
	var words []string
	if inconclusive > 0 {
		words = append(words, readable.Number(inconclusive)+" inconclusive")
	}
	if notRun > 0 {
		words = append(words, readable.Number(notRun)+" not run")
	}
	return inconclusive + notRun, "of " + readable.Count(len(h.states), "version") + " " + strings.Join(words, ", ")
}

func (h history) version(i int) string { return name.Print(h.versions[i].Name) }

// by names the versions that may have made a change: one of them did.
func (h history) by(c bisection.Change) string {
	switch c.Version - c.After {
	case 1:
		return h.version(c.Version)
	case 2:
		return h.version(c.After+1) + " or " + h.version(c.Version)
	}
	return "one of " + h.version(c.After+1) + " … " + h.version(c.Version)
}

// stateWords describes a stretch of versions in the line of a cause.
func stateWords(s bisection.State) string {
	switch s {
	case bisection.Shown:
		return "with it"
	case bisection.Absent:
		return "without it"
	case bisection.Inconclusive:
		return "inconclusive"
	}
	return "not run"
}

// line lists what each version shows.
func (h history) line() string {
	var parts []string
	for _, s := range bisection.Stretches(h.states) {
		part := h.version(s.From)
		switch s.To - s.From {
		case 0:
		case 1:
			part += " " + h.version(s.To)
		default:
			part += " … " + h.version(s.To)
		}
		parts = append(parts, part+" "+stateWords(s.State))
	}
	return strings.Join(parts, ", ")
}
