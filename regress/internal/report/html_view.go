package report

import (
	"html/template"
	"io"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/internal/style"
	"muster/regress"
	"muster/regress/internal/cost"
	"muster/regress/internal/name"
	"muster/regress/internal/palette"
)

// pageView is the input of the template. The template reads each sequence once, in the order of
// the page: a sequence stops when the page is full, and later parts say what it left out.
type pageView struct {
	pageLook
	Title       string
	Interrupted bool
	Verdicts    []verdictCount
	Facts       []fact
	Hints       []hint
	Bar         []barPart
	Warnings    []string
	Notes       []string
	MoreNotes   string
	Causes      *pageCauses // nil without causes
	Cost        *pageCost   // nil if no cost was reported
	Engine      *pageEngine // nil if cases ran on this machine
	Times       *timesView  // nil if there is too little to show
	Cases       *pageCases
	NotRun      []string
	NotRunTold  string
}

type fact struct{ Name, Value string }

type verdictCount struct {
	N           string
	What, Class string
}

func (p *page) write(w io.Writer, s regress.Summary) error {
	counted := &countingWriter{w: w}
	cases := p.newCases(counted)
	title, _ := ended(s)
	costs, err := p.costs.view()
	if err != nil {
		return err
	}
	engine, err := p.engine(s)
	if err != nil {
		return err
	}
	times, err := p.times.view()
	if err != nil {
		return err
	}
	v := pageView{
		pageLook: pageLook{pagePolicy(), template.CSS(style.CSS() + style.Pictures() + pageStyle), template.JS(pageScript)},
		Title:    readable.Clip(readable.Line(s.Command), 100) + ": " + title, Interrupted: s.BrokeOff,
		Facts: p.facts(s), Hints: hintsFor(s, ""), Bar: verdictBar(s),
		Causes: p.newCauses(counted, cases, s), Cost: costs, Engine: engine, Times: times,
		Cases: cases, NotRun: name.PrintAll(p.notRun),
	}
	if left := s.Unjudged() - len(p.notRun); left > 0 && len(p.notRun) > 0 {
		v.NotRunTold = "and " + readable.Number(left) + " more"
	}
	for _, c := range countsOf(s) {
		if c.n > 0 {
			v.Verdicts = append(v.Verdicts, verdictCount{readable.Number(c.n), c.what, classOfColour(c.colour)})
		}
	}
	for _, n := range p.notes {
		text := readable.Clip(readable.Text(n.Text), 2000)
		if n.Warning {
			v.Warnings = append(v.Warnings, text)
		} else {
			v.Notes = append(v.Notes, text)
		}
	}
	if p.moreNote > 0 {
		v.MoreNotes = readable.Count(p.moreNote, "more note")
	}
	if err := pageLayout.ExecuteTemplate(counted, "page", v); err != nil {
		return err
	}
	return cases.err
}

// countingWriter counts the bytes of the page.
type countingWriter struct {
	w       io.Writer
	written int
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.written += n
	return n, err
}

func (p *page) facts(s regress.Summary) []fact {
	facts := []fact{}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, readable.Clip(readable.Line(value), pageFactBytesMax)})
		}
	}
	add("Run", s.Run)
	if !p.started.At.IsZero() {
		add("Began", p.started.At.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	add("Command", p.started.Tool)
	add("Compared with", p.started.Against)
	add("Corpus", p.started.Corpus)
	var allowed []string
	for _, v := range p.started.Allowed {
		allowed = append(allowed, v.String())
	}
	add("Allowed", strings.Join(allowed, ", "))
	add("Wall time", readable.Duration(s.Wall))
	switch {
	case s.Engine != nil:
		add("On the engine", engineCounts(s.Engine))
		if s.IsMeasured() {
			add("CPU of the tool there", readable.Duration(s.CPU))
		}
		add("CPU of muster itself", readable.Duration(s.OwnCPU))
	case s.CPU > 0:
		add("CPU of the tool", readable.Duration(s.CPU))
		if s.Merged > 0 {
			break
		}
		add("CPU of muster itself", readable.Duration(s.OwnCPU))
		add("Cores busy", strconv.FormatFloat(finite(s.CoresBusy), 'f', 2, 64)+", jobs "+strconv.Itoa(p.started.Jobs))
	}
	for _, r := range remarks(s, namedMax) {
		add(r.title(), r.text)
	}
	status := strconv.Itoa(s.ExitStatus)
	if meaning := meaningOf(s); meaning != "" {
		status += ": " + meaning
	}
	add("Exit status", status)
	return facts
}

// classOf returns the CSS class of a verdict's chip.
func classOf(v regress.Verdict) string { return classOfColour(colourOf(v)) }

func classOfColour(c palette.Style) string {
	switch c {
	case palette.Green:
		return "good"
	case palette.Red:
		return "bad"
	case palette.Yellow:
		return "open"
	case palette.Purple:
		return "odd"
	}
	return "new"
}

// pageCost is what the change costs, as the page shows it.
type pageCost struct {
	Over    string
	Figures []fact
	Text    []string
	Plots   []template.HTML
	Worst   []worstCase
}

type worstCase struct{ Name, Ratio, Old, New string }

// pageWorstMax bounds the worst cases that the page names.
const pageWorstMax = 20

// view returns nil if no cost was reported.
func (c *Cost) view() (*pageCost, error) {
	if c == nil {
		return nil, nil
	}
	if !c.CPU.IsKnown() {
		return &pageCost{Text: []string{"There are no figures: " + readable.Line(c.Why) + "."}}, nil
	}
	v := &pageCost{Over: readable.Line(strings.Join(c.Over, ", ")), Figures: []fact{{"CPU time, new ÷ old", c.ratio(c.CPU)}}}
	if c.Memory.IsKnown() {
		v.Figures = append(v.Figures, fact{"Peak memory, new ÷ old", c.ratio(c.Memory)})
	}
	if c.Indicative {
		v.Text = append(v.Text, "Indicative: "+readable.Line(c.Why)+".")
	} else {
		v.Text = append(v.Text, "Of "+measuredText(c)+".")
	}
	for _, w := range c.Warnings {
		v.Text = append(v.Text, readable.Clip(readable.Line(w.Text), 1000))
	}
	for _, one := range c.Worst[:min(len(c.Worst), pageWorstMax)] {
		v.Worst = append(v.Worst, worstCase{name.Print(one.Name), ratioDigits(one.CPU) + " ×", milliseconds(one.Old.CPU.Seconds()), milliseconds(one.New.CPU.Seconds())})
	}
	plots, err := costPlots(*c)
	for _, svg := range plots {
		v.Plots = append(v.Plots, template.HTML(svg)) // safe, because package plot escapes its texts
	}
	return v, err
}

func (c *Cost) ratio(r cost.Ratio) string {
	if c.vague(r) {
		return tooLittle
	}
	return ratioText(r)
}

func milliseconds(seconds float64) string {
	return strconv.FormatFloat(seconds*1000, 'f', 1, 64) + " ms"
}

// pageEngine describes the runs on an engine, as the page shows them.
type pageEngine struct {
	Figures []fact
	Advice  string
	Plot    template.HTML
	Workers []pageWorker
	More    string
	Open    bool
}

type pageWorker struct {
	Name, Runs, Mean, Took string
	Share                  float64 // percent of the longest
}

const (
	pageWorkersMax = 30
	openWorkersMax = 8
)

// engine returns nil if cases ran on this machine.
func (p *page) engine(s regress.Summary) (*pageEngine, error) {
	r := s.Engine
	if r == nil {
		return nil, nil
	}
	v := &pageEngine{Figures: engineFigures(r), Open: len(r.Workers) <= openWorkersMax}
	if advice := engineAdvice(r); advice != "" {
		v.Advice = strings.ToUpper(advice[:1]) + advice[1:] + "."
	}
	for _, w := range r.Workers[:min(len(r.Workers), pageWorkersMax)] {
		one := pageWorker{workerText(w.Name), readable.Number(w.Runs), readable.Duration(w.Mean()), readable.Duration(w.Took), 0}
		if most := r.Workers[0].Took; most > 0 {
			one.Share = 100 * float64(w.Took) / float64(most)
		}
		v.Workers = append(v.Workers, one)
	}
	if more := len(r.Workers) - len(v.Workers); more > 0 {
		v.More = readable.Number(more)
	}
	svg, err := p.load.picture()
	v.Plot = template.HTML(svg) // safe, because package plot escapes its texts
	return v, err
}

func engineFigures(r *regress.EngineRuns) []fact {
	var facts []fact
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, value})
		}
	}
	add("Run there", readable.Count(r.Executed, "run"))
	add("Reused, as the engine had the result", readable.Count(r.Cached, "run"))
	add("Sent", readable.Size(r.Sent))
	add("Received", readable.Size(r.Received))
	if r.Executed == 0 || r.Took == 0 {
		return facts
	}
	if r.QueuesKnown == r.Executed {
		add("Waiting for a worker", readable.Duration(r.Mean(r.Queued))+" a run, "+readable.Duration(r.Queued)+" in all")
	}
	add("The command alone", readable.Duration(r.Mean(r.Took))+" a run, "+readable.Duration(r.Took)+" in all")
	if asked, running := r.AtOnce(); asked > 0 {
		add("Asked for at once", few(asked)+" in the mean, at most "+strconv.Itoa(r.Jobs))
		add("Running at once", few(running)+" in the mean")
	}
	if slow, ok := r.Slowest(); ok {
		add("Slowest worker", workerText(slow.Name)+", "+readable.Duration(slow.Mean())+" a run")
	}
	add("Longest", longestRunText(r.Longest))
	return facts
}
