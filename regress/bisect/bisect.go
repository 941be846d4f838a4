// Package bisect finds the version of a command that introduced each cause of a past check, and the one
// that removed it.
//
// Input: a list of versions, in order. It runs every version on the smallest case of each cause, and
// compares the outcome with that of the golden. Output: a text or JSON on the standard output of the
// host. The package must not write to a golden or a state folder.
package bisect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/bisection"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/goal"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/report"
)

// Run runs each version on the smallest source of each cause, once, and prints which
// of them brought the cause, and which took it away and brought it again. When ctx ends it
// prints what is known by then, and returns an error of class Interrupted.
func Run(ctx context.Context, o regress.Options, h host.Host, b Options) (err error) {
	if b.Status == nil {
		b.Status = func(string) {}
	}
	p, err := pastrun.OpenLast(&o, h, b.Run)
	if err != nil {
		return err
	}
	found, err := p.Run.Causes()
	if err != nil {
		return err
	}
	goals, err := findGoals(ctx, p, found, b.Target)
	if err != nil {
		return err
	}
	names := make([]string, len(goals))
	for i, a := range goals {
		names[i] = a.Name
	}
	s, err := goal.OpenAgain(ctx, p, &o, h, job.BisectCommand, names)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := goal.WarnIfCorpusChanged(ctx, p, s); err != nil {
		return err
	}
	d := &search{run: s, past: p, found: found, index: cause.NewIndex(found.Causes), how: b, began: time.Now()}
	if d.base, err = p.Run.OpenBase(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.base.Close()) }()
	if err := d.prepare(ctx, goals); err != nil {
		return err
	}
	return conclude(ctx, d, d.runAll(ctx))
}

// findGoals returns the goal that a word names, or one for each case that is the smallest of a cause.
func findGoals(ctx context.Context, p *pastrun.Past, found *cause.Found, word string) (list []goal.Goal, err error) {
	if word != "" {
		a, err := goal.Find(ctx, p, found, word)
		return []goal.Goal{a}, err
	}
	for i, c := range found.Causes {
		at := slices.IndexFunc(list, func(a goal.Goal) bool { return a.Name == c.Smallest })
		if at < 0 {
			at, list = len(list), append(list, goal.Goal{Name: c.Smallest})
		}
		list[at].Causes = append(list[at].Causes, i)
	}
	if len(list) == 0 {
		return nil, fault.Emptyf("run %s has no causes: nothing differed", p.Run.ID)
	}
	return list, nil
}

// conclude prints what a search has found. err is the error that ended the search, or nil.
func conclude(ctx context.Context, d *search, err error) error {
	switch {
	case err != nil && ctx.Err() == nil:
		return err
	case d.ran == 0 && d.failed != nil:
		return d.failed
	}
	write := d.writeText
	if d.run.Job.Report.Format == regress.JSON {
		write = d.writeJSON
	}
	w := &strings.Builder{}
	if err := write(w, ctx.Err() != nil); err != nil {
		return err
	}
	d.how.Status("")
	if _, err := io.WriteString(d.run.Host.Stdout, w.String()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fault.Interruptedf("interrupted: %s of %s are done", readable.Number(d.ran+d.failing), readable.Count(d.runs(), "run"))
	}
	return nil
}

// each calls do for each cause, in their order.
func (d *search) each(do func(c *cause.Cause, caseName string, h history) error) error {
	for index := range d.found.Causes {
		for _, p := range d.sources {
			n := slices.Index(p.Causes, index)
			if n < 0 {
				continue
			}
			if err := do(&d.found.Causes[index], p.Name, history{d.how.Versions, p.states[n]}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *search) writeText(w *strings.Builder, interrupted bool) error {
	err := d.each(func(c *cause.Cause, caseName string, h history) error {
		fmt.Fprintf(w, "%s  %s\n    %s\n", c.ID, c.Name, h.sentence())
		fmt.Fprintf(w, "    in %s: %s\n", name.Print(caseName), h.line())
		return nil
	})
	end := ""
	if interrupted {
		end = ", interrupted"
	}
	fmt.Fprintf(w, "bisect: %s, %s, %s, %s in %s%s\n",
		readable.Count(d.causes(), "cause"), readable.Count(len(d.versions), "version"), readable.Count(len(d.sources), "source"),
		readable.Count(d.ran+d.failing, "run"), readable.Duration(time.Since(d.began)), end)
	return err
}

func (d *search) causes() (n int) {
	for _, p := range d.sources {
		n += len(p.Causes)
	}
	return n
}

// jsonBisected is the line of a cause.
type jsonBisected struct {
	Type      string        `json:"type"`
	ID        string        `json:"id"`
	Signature string        `json:"signature"`
	Name      string        `json:"name"`
	Source    string        `json:"source"`
	BroughtBy *string       `json:"brought_by"` // the version with which it came last; null where none brought it
	Sure      bool          `json:"sure"`       // no version lies between that could have brought it as well
	History   []jsonVersion `json:"history"`
}

type jsonVersion struct {
	Version string `json:"version"`
	State   string `json:"state"`
}

type jsonBisect struct {
	Type        string  `json:"type"`
	Command     string  `json:"command"`
	Run         string  `json:"run"`
	Causes      int     `json:"causes"`
	Versions    int     `json:"versions"`
	Sources     int     `json:"sources"`
	Runs        int     `json:"runs"`
	Interrupted bool    `json:"interrupted"`
	Wall        float64 `json:"wall_ms"`
}

func (d *search) writeJSON(w *strings.Builder, interrupted bool) error {
	err := d.each(func(c *cause.Cause, caseName string, h history) error {
		line := jsonBisected{Type: "cause", ID: c.ID, Signature: c.Signature, Name: c.Name, Source: name.Print(caseName)}
		changes, _ := bisection.Changes(h.states)
		for _, change := range changes {
			if change.Came {
				by := h.version(change.Version)
				line.BroughtBy, line.Sure = &by, change.Sure()
			}
		}
		for i, s := range h.states {
			line.History = append(line.History, jsonVersion{h.version(i), jsonState(s)})
		}
		return report.EncodeLine(w, line)
	})
	if err != nil {
		return err
	}
	return report.EncodeLine(w, jsonBisect{
		Type: "summary", Command: job.BisectCommand, Run: d.past.Run.ID, Causes: d.causes(), Versions: len(d.versions),
		Sources: len(d.sources), Runs: d.ran + d.failing, Interrupted: interrupted,
		Wall: float64(time.Since(d.began).Round(100*time.Microsecond)) / float64(time.Millisecond),
	})
}

func jsonState(s bisection.State) string {
	switch s {
	case bisection.Shown:
		return "shown"
	case bisection.Absent:
		return "absent"
	case bisection.Inconclusive:
		return "inconclusive"
	}
	return "not_run"
}
