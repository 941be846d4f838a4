package lab

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
)

// ClaimsOptions configures [Claims].
type ClaimsOptions struct {
	Options
	Sizes ClaimSizes
	Dir   string // parent of the corpus and all other files; "" = the system's folder for temporary files
}

// ClaimSizes are the sizes of the measurements for the claims.
type ClaimSizes struct {
	Cases, CaseBytes int // of the corpus; CaseBytes is the mean size
	Tasks            int // dispatched tasks
	Items            int // items through a channel
	Roots            int // most square roots of one measurement; bounds the calls of a function
	Alive            int // most goroutines that call a function
	Goroutines       int // goroutines that wait
	Renames          int // renamed files
	Uploads          int // uploaded files, for each kind of upload
	Rows             int // rows written to a database
}

// ClaimsQuick returns sizes that take about a minute with 2 processors.
func ClaimsQuick() ClaimSizes {
	return ClaimSizes{
		Cases: 100, CaseBytes: 20 << 10, Tasks: 200_000, Items: 100_000, Roots: 5_000_000,
		Alive: 30_000, Goroutines: 1_000_000, Renames: 10_000, Uploads: 2_000, Rows: 1_000,
	}
}

// ClaimsFull returns the sizes of the articles, with exceptions: the corpus is a fifteenth,
// and the tasks and the uploads are a tenth.
func ClaimsFull() ClaimSizes {
	return ClaimSizes{
		Cases: 1_000, CaseBytes: 67 << 10, Tasks: 10_000_000, Items: 1_000_000, Roots: 500_000_000,
		Alive: 1_000_000, Goroutines: 1_000_000, Renames: claimRenames, Uploads: 20_000, Rows: 20_000,
	}
}

// Settings of the measurements.
const (
	claimJobs      = 8  // workers of a pool, as in the article
	claimWorkers   = 32 // workers of the runner, as in the article
	claimMessages  = 20_000
	claimRenames   = 2_000_000
	claimTurns     = 200_000_000 // most loop iterations beside a channel
	claimManyRoot  = 700_000
	claimManyTimes = 2 // each takes a second or more
)

func claimWork() []int   { return []int{1, 10, 100, 1000, 5000} }
func claimProcs() []int  { return []int{1, 2, 4, 16, 64, 256} }
func claimCycles() []int { return []int{0, 100, 1000, 100_000, 1_000_000} }

// claimWriters returns the article's numbers of goroutines that write to a database.
func claimWriters() []int { return []int{20, 1000} }

func insertName(goroutines int) string {
	return fmt.Sprintf("Insert/impl=postgres/goroutines=%d", goroutines)
}

// Claims measures the claims of the articles on this machine.
func Claims(ctx context.Context, o ClaimsOptions) (r *Results, err error) {
	folder, err := checkFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	p, err := newPlanner(&o.Options, "claims", results.Pair{Key: "sizes", Value: fmt.Sprintf("%+v", o.Sizes)}, results.Pair{Key: "dir", Value: folder})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "muster-lab-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}()
	if err := p.addCorpus(ctx, dir, o); err != nil {
		return p.Results, err
	}
	if err := p.addClaimPeers(ctx, o.Sizes); err != nil {
		return p.Results, err
	}
	p.addClaimChannels(o.Sizes)
	p.addClaimSpawn(o.Sizes)
	for _, folders := range renameFolders() {
		t := renameTrial(o.Dir, o.Sizes.Renames, folders)
		if o.Sizes.Renames < claimRenames {
			t.Times = 2 // this many are too few for a verdict anyway
		}
		p.add(t)
	}
	p.addUploads(o)
	p.add(exhaustTrial())
	return p.Results, p.measure(ctx)
}

// addClaimPeers adds the trials of the articles' contestants.
func (p *planner) addClaimPeers(ctx context.Context, sizes ClaimSizes) error {
	for _, impl := range probe.Codecs() {
		p.add(echoTrial(impl, claimMessages))
	}
	for _, c := range []struct {
		question native.Question
		wanted   []string
		add      func(contestant)
	}{
		{native.Dispatch, []string{"article", "cpp-boost"}, func(c contestant) { p.addDispatch(c, "single", claimJobs, sizes.Tasks, []int{1, claimJobs}) }},
		{native.Insert, nil, func(c contestant) {
			for _, goroutines := range claimWriters() {
				t := c.trial(insertName(goroutines), time.Second+time.Duration(sizes.Rows)*60*time.Microsecond,
					"-goroutines", strconv.Itoa(goroutines), "-rows", strconv.Itoa(sizes.Rows))
				t.Folder = true // in the system's folder for temporary files, which the server's user may enter
				p.add(t)
			}
		}},
		{native.Spawn, []string{"erlang"}, func(c contestant) {
			t := c.trial(SpawnName(c.Impl, "waiting", 1, sizes.Goroutines, 0), time.Duration(sizes.Goroutines)*peerCost(c.Impl),
				"-mode", "waiting", "-work", "1", "-count", strconv.Itoa(sizes.Goroutines))
			t.Times = 1
			p.add(t)
		}},
	} {
		found, err := p.compile(ctx, c.question, c.wanted)
		if err != nil {
			return err
		}
		for _, one := range found {
			c.add(one)
		}
	}
	return nil
}

// addClaimChannels adds the trials of channels and of GOMAXPROCS.
func (p *planner) addClaimChannels(sizes ClaimSizes) {
	for _, procs := range claimProcs() {
		p.add(channelTrial(sizes.Items, 0, 0, procs, 0, false))
	}
	for _, cycles := range claimCycles()[1:] {
		for _, procs := range []int{1, 2} {
			p.add(channelTrial(min(sizes.Items, max(claimTurns/cycles, 1)), 0, cycles, procs, 0, false))
		}
	}
	if n := processors(); n > 1 {
		p.add(channelTrial(sizes.Items, 0, 0, 1, 1, false))
		p.add(channelTrial(sizes.Items, 0, 0, 1, min(n, processesMax), false))
	}
	for _, procs := range []int{0, 300} {
		p.add(trial{Name: procsName(procs), Estimate: 10 * time.Millisecond, Question: probe.Procs{}, Procs: procs, Times: 1})
	}
}

// procsName returns the name of the figure for the GOMAXPROCS of a process that requested a
// value; 0 = no request.
func procsName(asked int) string { return fmt.Sprintf("Procs/asked=%d", asked) }

// addClaimSpawn adds the trials of goroutines.
func (p *planner) addClaimSpawn(sizes ClaimSizes) {
	for _, procs := range []int{1, 2} {
		for _, work := range claimWork() {
			calls := claimCalls(sizes, work)
			p.add(spawnTrial(probe.Each, work, calls, procs))
			if procs == 1 {
				p.add(spawnTrial(probe.Sending, work, calls, procs))
			}
		}
	}
	p.add(spawnTrial(probe.Bare, 1, directCalls(1), 1))
	if sizes.Goroutines >= claimManyRoot {
		for _, mode := range []probe.SpawnMode{probe.Sending, probe.Each} {
			t := spawnTrial(mode, 10, claimManyRoot, 1)
			t.Times = claimManyTimes
			p.add(t)
		}
	}
	t := waitingTrial(sizes.Goroutines)
	t.Times = 1
	p.add(t)
}

// claimCalls returns how often a function of work square roots is called, in a loop and in
// goroutines.
func claimCalls(sizes ClaimSizes, work int) int {
	return min(sizes.Alive, max(1_000, sizes.Roots/work))
}

// ClaimsReport reports the verdict on each claim, from the results of [Claims].
func ClaimsReport(r *Results, o ClaimsOptions) Report {
	j := newJudge(r, o.Sizes)
	counts := map[verdict]int{}
	var (
		sections []page.Section
		lines    []any
	)
	charts := []plot.Chart{{}, procsChart(j), rootsChart(j), {}}
	for i, a := range j.articles() {
		s := &sheet{view: j.view, Section: page.Section{
			Title: a.title, Text: []string{a.address + ". Measured on " + a.machine + "."},
			Tables: []page.Table{{Caption: "the claims, and the figures of this machine", Columns: []page.Column{
				{Title: "", Right: true}, {Title: "claim"}, {Title: "verdict"}, {Title: "here"}, {Title: "holds if"}, {Title: "why"},
			}}},
		}}
		for _, c := range a.claims {
			f := j.decide(c)
			counts[f.verdict]++
			lines = append(lines, map[string]any{
				"type": "claim", "number": c.number, "article": a.title, "claim": c.statement, "verdict": f.verdict,
				"here": f.here, "holds_if": c.holdsIf(), "why": f.why,
			})
			s.Tables[0].Rows = append(s.Tables[0].Rows, []page.Cell{
				{Text: fmt.Sprint(c.number)}, {Text: c.statement}, {Class: f.verdict.class()}, {Text: cmp.Or(f.here, "–")}, {Text: c.holdsIf()}, {Text: f.why},
			})
		}
		if i == 0 {
			j.corpus(s)
		}
		s.Charts = charts[i].Drawable()
		sections = append(sections, s.Section)
	}
	d := newDocument(r, "Claims of well-known articles on concurrency, measured here",
		fmt.Sprintf("%d claims: %d hold, %d no longer hold, %d are undecided.", len(lines), counts[holds], counts[noLongerHolds], counts[undecided]),
		howMeasured(o.Count)+" A ratio is the median of the ratios of the rounds. "+
			"A claim holds if the whole interval is within its bound, and no longer holds if the interval is outside. It is undecided if the interval crosses the bound, after a single run, or if other programs took the processors. "+
			"Figures at GOMAXPROCS 1 are judged by processor time, which other programs hardly change. "+
			"The claims are paraphrased, with the articles' figures.")
	d.Sections = append(sections, page.Section{
		Title: "All figures",
		Text:  []string{"The verdicts rest on these figures."},
		Tables: []page.Table{
			j.figuresTable(),
		},
		Warnings: j.warnings(r.Names()),
	})
	return Report{d, lines}
}

func procsChart(j *judge) plot.Chart {
	c := plot.Chart{
		Title: "A channel against GOMAXPROCS", X: plot.Axis{Label: "GOMAXPROCS", Log: true},
		Y: plot.Axis{Label: "seconds for " + readable.Number(probe.PortionItems) + " items"}, Lines: []plot.Line{{Name: "without work beside it"}},
	}
	for _, procs := range claimProcs() {
		c.Lines[0].Points = append(c.Lines[0].Points, j.scaledPoint(float64(procs), channelAt(0, procs), results.NsPerOp, probe.PortionItems*1e-9)...)
	}
	return c
}

func rootsChart(j *judge) plot.Chart {
	c := plot.Chart{
		Title: "Goroutine ÷ loop against work", X: plot.Axis{Label: "square roots per call", Log: true}, Y: plot.Axis{Label: "goroutine ÷ loop", Log: true},
	}
	for _, procs := range []int{1, 2} {
		l := plot.Line{Name: fmt.Sprintf("GOMAXPROCS %d", procs)}
		for _, work := range claimWork() {
			calls := claimCalls(j.ClaimSizes, work)
			l.Points = append(l.Points, summaryPoint(float64(work), j.timeRatio(goName(work, calls, procs), loopName(work, calls, 1)))...)
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}
