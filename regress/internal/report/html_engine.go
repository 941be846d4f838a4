package report

import (
	"html/template"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/regress"
)

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
	add("Known already (cached)", readable.Count(r.Cached, "run"))
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
