package report

import (
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// A diffLine is a line of a diff, and the class that colours it.
type diffLine struct{ Class, Text string }

func diffLines(text string) []diffLine {
	lines := []diffLine{}
	for line := range strings.Lines(readable.Text(text)) {
		line = strings.TrimSuffix(line, "\n")
		lines = append(lines, diffLine{diffClass(line), line})
	}
	return lines
}

func diffClass(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return "put-in"
	case strings.HasPrefix(line, "-"):
		return "taken-out"
	case strings.HasPrefix(line, "@@"):
		return "place"
	case strings.HasPrefix(line, "<"), strings.HasPrefix(line, ">"), strings.HasPrefix(line, "…"), strings.HasPrefix(line, "\\"):
		return "remark"
	}
	return ""
}

// pageDifferences are the differences of one case.
type pageDifferences struct {
	Ending string
	Parts  []pagePart
	Flaky  string
	Left   string
	Show   string
	Why    string
}

type pagePart struct{ Name, Words, Diff string }

// pageParts returns what unfolds below a case, or nil if its line says all.
func pageParts(c Case) *pageDifferences {
	d := &pageDifferences{Ending: endings(c), Show: showCommand(c.Name)}
	hidden := 0
	for _, one := range c.Differences {
		if one.Part == outcome.EndingPart {
			continue
		}
		d.Parts = append(d.Parts, pagePart{name.Print(one.Part), oldToNow(one) + remarkOn(one), readable.Text(one.Diff)})
		hidden += max(one.Hidden, 0)
	}
	if len(c.Flaky) > 0 {
		d.Flaky = flakyParts(c.Flaky)
	}
	if c.Verdict == regress.EnvironmentFailed {
		d.Why = readable.Text(c.Why)
	}
	d.Left = leftOut(hidden, c.More)
	if d.Parts == nil && d.Ending == "" && d.Flaky == "" && d.Why == "" {
		return nil
	}
	return d
}
