package report

import (
	"bufio"
	"cmp"
	"io"
	"slices"

	"muster/regress"
	"muster/regress/internal/jsonline"
)

// NewJSON returns a Reporter that writes the lines of cases, causes and the summary to the
// console's Out after the last case. These lines are as in an events file, in corpus order and
// without differences. Progress goes to Err.
func NewJSON(c Console, v Verbosity) Reporter {
	progress, out := newProgress(c, v)
	return Tee{progress, &jsonLines{w: out, all: v == Verbose}}
}

// jsonLines holds back the events that it will print, without their differences.
type jsonLines struct {
	w      io.Writer
	all    bool
	cases  []Case
	groups []Group
	found  memberships
	cost   *Cost
}

func (j *jsonLines) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Case:
		if j.all || ev.Verdict != regress.Identical {
			ev.More += len(ev.Differences)
			ev.Differences = nil
			j.cases = append(j.cases, ev)
		}
	case Group:
		j.found.add(ev)
		j.groups = append(j.groups, ev)
	case Cost:
		j.cost = &ev
	case Finished:
		return j.write(ev)
	}
	return nil
}

func (j *jsonLines) Close() error { return nil }

func (j *jsonLines) write(f Finished) error {
	slices.SortStableFunc(j.cases, func(a, b Case) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
	})
	w := bufio.NewWriter(j.w)
	e := jsonline.NewEncoder()
	for _, c := range j.cases {
		line := caseLine(c, j.found.ids(c.Name))
		line.Omit = "differences"
		if err := e.WriteLine(w, line); err != nil {
			return err
		}
	}
	for _, g := range j.groups {
		if err := e.WriteLine(w, eventLine(g, nil)); err != nil {
			return err
		}
	}
	if err := e.WriteLine(w, eventLine(f, j.cost)); err != nil {
		return err
	}
	return w.Flush()
}
