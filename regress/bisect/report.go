package bisect

import (
	"context"
	"fmt"
	"io"
	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/bisection"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/report"
	"strings"
	"time"
)

// findings are what a search has found, to be printed.
type findings struct {
	search      *search
	interrupted bool
}

// conclude prints what a search has found. err is the error that ended the search, or nil.
func conclude(ctx context.Context, d *search, err error) error {
	switch {
	case err != nil && ctx.Err() == nil:
		return err
	case d.ran == 0 && d.failed != nil:
		return d.failed
	}
	f := findings{search: d, interrupted: ctx.Err() != nil}
	write := f.text
	if d.run.Job.Report.Format == regress.JSON {
		write = f.json
	}
	w := &strings.Builder{}
	if err := write(w); err != nil {
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
func (f findings) each(do func(c *cause.Cause, caseName string, h history) error) error {
	for index := range f.search.found.Causes {
		for i := range f.search.sources {
			for n, c := range f.search.sources[i].Causes {
				if c != index {
					continue
				}
				if err := do(&f.search.found.Causes[index], f.search.sources[i].Name, history{f.search.how.Versions, f.search.sources[i].states[n]}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (f findings) text(w *strings.Builder) error {
	err := f.each(func(c *cause.Cause, caseName string, h history) error {
		fmt.Fprintf(w, "%s  %s\n    %s\n", c.ID, c.Name, h.sentence())
		fmt.Fprintf(w, "    in %s: %s\n", name.Print(caseName), h.line())
		return nil
	})
	end := ""
	if f.interrupted {
		end = ", interrupted"
	}
	fmt.Fprintf(w, "bisect: %s, %s, %s, %s in %s%s\n",
		readable.Count(f.causes(), "cause"), readable.Count(len(f.search.versions), "version"), readable.Count(len(f.search.sources), "source"),
		readable.Count(f.search.ran+f.search.failing, "run"), readable.Duration(time.Since(f.search.began)), end)
	return err
}

func (f findings) causes() (n int) {
	for _, p := range f.search.sources {
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

func (f findings) json(w *strings.Builder) error {
	err := f.each(func(c *cause.Cause, caseName string, h history) error {
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
		Type: "summary", Command: job.BisectCommand, Run: f.search.past.Run.ID, Causes: f.causes(), Versions: len(f.search.versions),
		Sources: len(f.search.sources), Runs: f.search.ran + f.search.failing, Interrupted: f.interrupted,
		Wall: float64(time.Since(f.search.began).Round(100*time.Microsecond)) / float64(time.Millisecond),
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
