package lab

import (
	"cmp"
	"fmt"
	"strconv"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/internal/run"
	"muster/lab/probe"
	"muster/lab/results"
)

// IOReport reports the results of [IO].
func IOReport(of *Results, o IOOptions) Report {
	r := view{of}
	d := newDocument(of, "The cost of files, messages, calls and locks",
		howMeasured(o.Count))
	d.Sections = []page.Section{
		r.filesSection(o), r.enginesSection(o), r.renameSection(o), r.logSection(), r.messagesSection(), r.waitsSection(), r.exhaustSection(o),
	}
	return Report{document: d}
}

func (r view) filesSection(o IOOptions) page.Section {
	t := page.Table{
		Caption: fmt.Sprintf("µs per file, for %s files", readable.Number(int64(o.Files))),
		Columns: newColumns("", "create", "read", "stat", "rename", "remove"),
	}
	for _, size := range fileSizes() {
		for _, workers := range fileWorkers() {
			name := filesName(size, workers)
			row := page.Row(fmt.Sprintf("%s bytes, %d at once", readable.Number(int64(size)), workers))
			for _, unit := range []string{createUnit, readUnit, statUnit, renameUnit, removeUnit} {
				row = append(row, r.medianCell(name, unit, 1000))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return page.Section{
		Title:  "Operations on whole files",
		Text:   []string{"These are operations of Go's package os. Nothing is flushed, and files are read just after they were written. So the figures are costs of system calls and the system's cache, not of a disk."},
		Tables: []page.Table{t},
	}
}

func (r view) renameSection(o IOOptions) page.Section {
	t := page.Table{Caption: fmt.Sprintf("%s files", readable.Number(int64(o.Renames))), Columns: newColumns("", "µs per file", "seconds in total")}
	var names []string
	for _, folders := range renameFolders() {
		name := renameName(folders)
		title := "into one folder"
		if folders > 1 {
			title = fmt.Sprintf("into %d folders", folders)
		}
		t.Rows = append(t.Rows, append(page.Row(title), r.medianCell(name, results.NsPerOp, 1e3), r.medianCell(name, results.NsPerOp, 1e9/float64(o.Renames))))
		names = append(names, name)
	}
	return page.Section{
		Title:  "Files renamed into one folder or several",
		Text:   []string{"In an article, renaming two million files took 183 to 320 s into one flat folder, and 33 to 46 s into ten."},
		Tables: []page.Table{t}, Warnings: r.warnings(names),
	}
}

func (r view) logSection() page.Section {
	t := page.Table{
		Caption: "ns per line",
		Columns: newColumns("", "1 goroutine", "8 goroutines", "1, buffered", "8, buffered"),
	}
	var names []string
	for _, logger := range probe.LogFormats() {
		row := page.Row(logger)
		for _, buffered := range []bool{false, true} {
			for _, goroutines := range goroutineCounts() {
				name := logName(logger, buffered, goroutines)
				names = append(names, name)
				row = append(row, r.medianCell(name, results.NsPerOp, 1))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return page.Section{Title: "Log lines", Tables: []page.Table{t}, Warnings: r.warnings(names)}
}

func (r view) messagesSection() page.Section {
	codec := page.Table{
		Caption: "ns to encode and decode a message, and its encoded size in bytes",
		Columns: newColumns("", "38 bytes", "encoded", "4,096 bytes", "encoded"),
	}
	echo := page.Table{Caption: fmt.Sprintf("%d connections send a message of 38 bytes and wait for the answer", echoConnections),
		Columns: newColumns("", "messages per second", "ns of processor time per message")}
	var names []string
	for _, impl := range []string{"protobuf", "json"} {
		row := page.Row(impl)
		for _, size := range codecSizes() {
			name := codecName(impl, size)
			names = append(names, name)
			row = append(row, r.medianCell(name, results.NsPerOp, 1), r.medianCell(name, wireUnit, 1))
		}
		codec.Rows = append(codec.Rows, row)
		rate := page.Cell{Text: "–"}
		if s := r.Summary(echoName(impl), results.NsPerOp); s.Median > 0 {
			rate.Text = readable.Number(int64(1e9 / s.Median))
		}
		echo.Rows = append(echo.Rows, append(page.Row(impl), rate, r.medianCell(echoName(impl), results.CPUPerOp, 1)))
	}
	return page.Section{
		Title:  "Messages as protobuf and as JSON",
		Text:   []string{"An article measured 157,000 messages per second with protobuf and 114,000 with JSON, over 500 connections."},
		Tables: []page.Table{codec, echo}, Warnings: r.warnings(names),
	}
}

func (r view) waitsSection() page.Section {
	t := page.Table{Caption: "ns per operation", Columns: newColumns("", "elapsed", "processor time")}
	var names []string
	add := func(title, name string) {
		names = append(names, name)
		t.Rows = append(t.Rows, append(page.Row(title), r.medianCell(name, results.NsPerOp, 1), r.medianCell(name, results.CPUPerOp, 1)))
	}
	add("a call in Go", callName("go", 1))
	add("a call into C", callName("cgo", 1))
	add("a call into C, by 8 goroutines", callName("cgo", 8))
	add("locking and unlocking", lockName(1))
	add("locking and unlocking, by 8 goroutines", lockName(8))
	for _, procs := range []int{1, 2} {
		add("waking a goroutine, GOMAXPROCS "+strconv.Itoa(procs), wakeUpName(false, procs))
	}
	add("waking a thread", wakeUpName(true, 2))
	return page.Section{Title: "Calls, locks and wake-ups", Tables: []page.Table{t}, Warnings: r.warnings(names)}
}

func (r view) exhaustSection(o IOOptions) page.Section {
	s := page.Section{
		Title: "A program with too many threads",
		Text:  []string{"A read that the runtime's poller cannot handle, such as that of a regular file, keeps a system thread until it ends. Go's runtime ends a program that needs more than 10,000 threads at the same time."},
	}
	name := exhaustName(o.ThreadsLimit)
	if why := r.Why(name); why != "" {
		s.Notes = []string{why}
		return s
	}
	n, status := r.Summary(name, threadsUnit), r.Summary(name, exitStatusUnit)
	if n.N == 0 {
		s.Notes = []string{"It was not measured."}
	} else {
		s.Text = append(s.Text, fmt.Sprintf("In a process of its own it happened here at %s threads, with exit status %.0f.", readable.Number(int64(n.Median)), status.Median))
	}
	return s
}

// ClaimsReport reports the verdict on each claim, from the results of [Claims].
func ClaimsReport(r *Results, o ClaimsOptions) Report {
	j := newJudge(r, o.Sizes)
	counts := map[verdict]int{}
	var (
		sections []page.Section
		lines    []any
	)
	for _, a := range articles() {
		s := page.Section{
			Title: a.title, Text: []string{a.address + ". Measured then on: " + a.machine + "."},
			Tables: []page.Table{{Caption: "the claims, and the figures of this machine", Columns: []page.Column{
				{Title: "", Right: true}, {Title: "claim"}, {Title: "verdict"}, {Title: "here"}, {Title: "holds if"}, {Title: "why"},
			}}},
		}
		for _, c := range claims() {
			if c.article != a.key {
				continue
			}
			f := j.judge(c)
			counts[f.verdict]++
			lines = append(lines, map[string]any{
				"type": "claim", "number": c.number, "article": a.title, "claim": c.statement, "verdict": f.verdict.String(),
				"here": f.here, "holds_if": c.condition, "why": f.why,
			})
			s.Tables[0].Rows = append(s.Tables[0].Rows, []page.Cell{
				{Text: fmt.Sprint(c.number)}, {Text: c.statement}, {Class: f.verdict.class()}, {Text: cmp.Or(f.here, "–")}, {Text: c.condition}, {Text: f.why},
			})
		}
		s.Charts = charts(j, a.key)
		sections = append(sections, s)
	}
	d := newDocument(r, "Claims of well-known articles on concurrency, measured here",
		fmt.Sprintf("%d claims: %d hold, %d no longer hold, %d are undecided.", len(claims()), counts[holds], counts[noLongerHolds], counts[undecided]),
		howMeasured(o.Count)+" A ratio is the median of the ratios of the rounds. "+
			"A claim holds if the whole interval is within its bound, and no longer holds if the interval is outside. It is undecided if the interval crosses the bound, or after a single run. "+
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

// charts returns the charts of an article, or charts that suit its claims.
func charts(j *judge, article string) []plot.Chart {
	switch article {
	case "A1":
		return corpusChart(j)
	case "A2":
		return procsChart(j)
	case "A3":
		return rootsChart(j)
	}
	return nil
}

func corpusChart(j *judge) []plot.Chart {
	c := plot.Chart{Title: "The corpus by workers", X: plot.Axis{Label: "workers; 0 = sequential, without a pool"}, Y: plot.Axis{Label: "ms per source"}}
	runner := plot.Line{Name: "muster record"}
	for _, jobs := range corpusJobs() {
		runner.Points = append(runner.Points, j.scaledPoint(float64(jobs), corpusName(run.Muster, jobs), results.NsPerOp, 1e-6)...)
	}
	with := plot.Line{Name: "make -j", Points: j.scaledPoint(float64(j.cpus), corpusName(makeImpl, j.cpus), results.NsPerOp, 1e-6)}
	c.Lines = []plot.Line{runner, with}
	return c.Drawable()
}

func procsChart(j *judge) []plot.Chart {
	c := plot.Chart{
		Title: "A channel against GOMAXPROCS", X: plot.Axis{Label: "GOMAXPROCS", Log: true},
		Y: plot.Axis{Label: "seconds for " + readable.Number(channelPortion) + " items"}, Lines: []plot.Line{{Name: "without work beside it"}},
	}
	for _, procs := range claimProcs() {
		c.Lines[0].Points = append(c.Lines[0].Points, j.scaledPoint(float64(procs), channelAt(0, procs), results.NsPerOp, channelPortion*1e-9)...)
	}
	return c.Drawable()
}

func rootsChart(j *judge) []plot.Chart {
	c := plot.Chart{
		Title: "Goroutine ÷ loop against work", X: plot.Axis{Label: "square roots per call", Log: true}, Y: plot.Axis{Label: "goroutine ÷ loop", Log: true},
	}
	for _, procs := range []int{1, 2} {
		l := plot.Line{Name: fmt.Sprintf("GOMAXPROCS %d", procs)}
		for _, work := range claimWork() {
			each, direct := j.callNames(work, claimGoroutines(j.sizes, work), procs)
			if s := j.Ratio(each, direct, results.NsPerOp); s.N > 0 {
				l.Points = append(l.Points, plot.Point{X: float64(work), Y: s.Median, Low: s.Low, High: s.High})
			}
		}
		c.Lines = append(c.Lines, l)
	}
	return c.Drawable()
}
