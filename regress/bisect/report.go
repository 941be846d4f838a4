package bisect

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/bisection"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/opt"
	"muster/regress/internal/report"
)

// conclude prints what came of the search, which err broke off unless it is nil.
func (d *bisecting) conclude(ctx context.Context, err error) error {
	switch {
	case err != nil && ctx.Err() == nil:
		return err
	case d.ran == 0 && d.failed != nil:
		return d.failed
	}
	write := d.text
	if d.run.Job.Report.Format == opt.JSON {
		write = d.json
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
		return fault.Interruptedf("interrupted: %d of %s are done", d.ran+d.failing, readable.Count(d.runs(), "run"))
	}
	return nil
}

// runs is how many there are in all.
func (d *bisecting) runs() (n int) {
	for i, first := range d.same {
		if first == i {
			n += len(d.sources)
		}
	}
	return n
}

// each calls do for the causes in their order.
func (d *bisecting) each(do func(index int, p *probed, states []bisection.State) error) error {
	for index := range d.found.Causes {
		for i := range d.sources {
			for n, c := range d.sources[i].Causes {
				if c != index {
					continue
				}
				if err := do(index, &d.sources[i], d.sources[i].states[n]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (d *bisecting) text(w *strings.Builder, interrupted bool) error {
	err := d.each(func(index int, p *probed, states []bisection.State) error {
		c := d.found.Causes[index]
		fmt.Fprintf(w, "%s  %s\n    %s\n", c.ID, c.Name, d.sentence(states))
		fmt.Fprintf(w, "    in %s: %s\n", name.Print(p.Name), d.line(states))
		return nil
	})
	end := ""
	if interrupted {
		end = ", interrupted"
	}
	fmt.Fprintf(w, "bisect: %s, %s, %s, %s in %v%s\n",
		readable.Count(d.causes(), "cause"), readable.Count(len(d.versions), "version"), readable.Count(len(d.sources), "source"),
		readable.Count(d.ran+d.failing, "run"), time.Since(d.began).Round(10*time.Millisecond), end)
	return err
}

func (d *bisecting) causes() (n int) {
	for _, p := range d.sources {
		n += len(p.Causes)
	}
	return n
}

// sentence says which version brought a cause.
func (d *bisecting) sentence(states []bisection.State) string {
	changes, oldest := bisection.Changes(states)
	silent, why := d.silent(states)
	switch {
	case oldest < 0:
		return "no version tells"
	case len(changes) == 0 && states[oldest] == bisection.Shown:
		return d.oldest(oldest) + " has it already"
	case len(changes) == 0 && silent == 0:
		return "no version has it"
	case len(changes) == 0 && 2*silent > len(states):
		return "it cannot be told: " + why + ", and the others are without"
	case len(changes) == 0:
		return "no version that tells has it: " + why
	case len(changes) == 1 && changes[0].Came:
		return d.by(changes[0]) + " brought it"
	}
	var words []string
	if states[oldest] == bisection.Shown {
		words = append(words, d.oldest(oldest)+" has it already")
	}
	came := states[oldest] == bisection.Shown
	for _, c := range changes {
		word := "it went with "
		if c.Came {
			word = "it came with "
			if came {
				word = "it came again with "
			}
			came = true
		}
		words = append(words, word+d.by(c))
	}
	return strings.Join(words, ", ")
}

// oldest names the first version that told anything.
func (d *bisecting) oldest(i int) string {
	if i > 0 {
		return d.version(i) + ", the oldest that tells,"
	}
	return d.version(i) + ", the oldest,"
}

// silent counts the versions that told nothing, and says why they did not.
func (d *bisecting) silent(states []bisection.State) (n int, why string) {
	untold, notRun := 0, 0
	for _, s := range states {
		switch s {
		case bisection.Inconclusive:
			untold++
		case bisection.NotAsked:
			notRun++
		}
	}
	var words []string
	if untold > 0 {
		words = append(words, readable.Number(untold)+" cannot tell")
	}
	if notRun > 0 {
		words = append(words, readable.Number(notRun)+" not run")
	}
	return untold + notRun, "of " + readable.Count(len(states), "version") + " " + strings.Join(words, ", ")
}

func (d *bisecting) version(i int) string { return name.Print(d.how.Versions[i].Name) }

// by names the versions one of which made a change.
func (d *bisecting) by(c bisection.Change) string {
	switch c.Version - c.After {
	case 1:
		return d.version(c.Version)
	case 2:
		return d.version(c.After+1) + " or " + d.version(c.Version)
	}
	return "one of " + d.version(c.After+1) + " … " + d.version(c.Version)
}

// stateWords are what the line of a cause says of a stretch of versions.
func stateWords(s bisection.State) string {
	switch s {
	case bisection.Shown:
		return "with it"
	case bisection.Absent:
		return "without"
	case bisection.Inconclusive:
		return "cannot tell"
	}
	return "not run"
}

// line says what each version showed.
func (d *bisecting) line(states []bisection.State) string {
	var parts []string
	for _, s := range bisection.Stretches(states) {
		part := d.version(s.From)
		switch s.To - s.From {
		case 0:
		case 1:
			part += " " + d.version(s.To)
		default:
			part += " … " + d.version(s.To)
		}
		parts = append(parts, part+" "+stateWords(s.State))
	}
	return strings.Join(parts, ", ")
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

func (d *bisecting) json(w *strings.Builder, interrupted bool) error {
	err := d.each(func(index int, p *probed, states []bisection.State) error {
		c := d.found.Causes[index]
		line := jsonBisected{Type: "cause", ID: c.ID, Signature: c.Signature, Name: c.Name, Source: name.Print(p.Name)}
		changes, _ := bisection.Changes(states)
		for _, change := range changes {
			if change.Came {
				by := d.version(change.Version)
				line.BroughtBy, line.Sure = &by, change.Sure()
			}
		}
		for i, s := range states {
			line.History = append(line.History, jsonVersion{d.version(i), jsonState(s)})
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
		return "untold"
	}
	return "not_run"
}
