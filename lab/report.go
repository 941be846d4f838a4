package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/internal/run"
	"muster/lab/probe"
	"muster/lab/results"
	"muster/lab/stat"
)

// A Report presents results to people.
type Report struct {
	document page.Document
	lines    []any // JSON lines beyond the figures: claims or advice
}

// Text writes the report for a terminal.
func (r Report) Text(w io.Writer) error { return page.Text(w, r.document) }

// HTML writes the report as one self-contained page with charts.
func (r Report) HTML(w io.Writer) error { return page.HTML(w, r.document) }

// JSON writes the report's own lines, and then the results.
func (r Report) JSON(w io.Writer, of *Results) error {
	e := json.NewEncoder(w)
	for _, line := range r.lines {
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return of.WriteJSON(w)
}

// Charts returns the charts of the report, in its order.
func (r Report) Charts() (charts []plot.Chart) {
	for _, s := range r.document.Sections {
		charts = append(charts, slices.Concat(s.Pictures, s.Charts)...)
	}
	return charts
}

// A view derives cells, points and warnings from results.
type view struct{ *Results }

// newDocument starts a report with the parts that all reports have.
func newDocument(r *Results, title string, lead ...string) page.Document {
	d := page.Document{Title: title, Lead: lead}
	for _, c := range r.Conditions {
		if c.Key == results.FormatKey {
			continue // describes the file, not the run
		}
		d.Conditions = append(d.Conditions, page.Pair{Name: c.Key, Value: c.Value})
	}
	if n := r.Disturbed(); n > 0 {
		d.Lead = append([]string{fmt.Sprintf("The machine was disturbed: other programs took more than %.0f %% of the processors' time while %d of %s were measured. "+
			"Elapsed times say little; measure again while the machine is idle.", 100*results.DisturbedMax, n, readable.Count(len(r.Names()), "figure"))}, d.Lead...)
	}
	if r.NotRun > 0 {
		what := fmt.Sprintf("%s measurements are missing.", readable.Number(int64(r.NotRun)))
		if r.NotRun == 1 {
			what = "one measurement is missing."
		}
		d.Lead = append([]string{"The run ended early: " + what + " Some figures rest on fewer runs than others, and – marks a figure without any."}, d.Lead...)
	}
	for _, m := range r.Missing {
		d.Conditions = append(d.Conditions, page.Pair{Name: "not here", Value: m.Peer + ": " + m.Text()})
	}
	for _, a := range r.Absent {
		if why, failed := strings.CutPrefix(a.Why, results.Failed); failed {
			d.Conditions = append(d.Conditions, page.Pair{Name: "failed", Value: a.Name + ": " + why})
		}
	}
	d.Conditions = append(d.Conditions, tooLarge(r)...)
	return d
}

// tooLarge names the figures that were left out for lack of memory, one line for each amount.
func tooLarge(r *Results) (lines []page.Pair) {
	names := map[string][]string{}
	for _, a := range r.Absent {
		if why, large := strings.CutPrefix(a.Why, results.TooLarge); large {
			names[why] = append(names[why], a.Name)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(names)) {
		text := names[why][0]
		if more := len(names[why]) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, page.Pair{Name: "left out", Value: text + ": " + why})
	}
	return lines
}

// medianCell returns the median of a benchmark, divided by divisor, and the spread of its
// interval. Without a figure it returns the reason.
func (r view) medianCell(name, unit string, divisor float64) page.Cell {
	s := r.Summary(name, unit)
	if s.N == 0 {
		return page.Cell{Text: reasonText(r.Why(name))}
	}
	return page.Cell{Text: digits(s.Median/divisor) + spreadText(s)}
}

// reasonText shortens the reason for an absent figure to fit a cell.
func reasonText(why string) string {
	switch {
	case why == "" || why == results.NoSuchMode:
		return "–"
	case why == results.TooLong, strings.HasPrefix(why, results.TooLarge):
		return "left out"
	case strings.HasPrefix(why, results.Failed):
		return "failed"
	}
	return why
}

// spreadText formats the distance to the farther end of the interval, if it is 0.5 % or more.
func spreadText(s stat.Summary) string {
	if spread := s.Spread(); spread >= 0.005 {
		return fmt.Sprintf(" ±%.0f%%", 100*spread)
	}
	return ""
}

// ratioText formats a ratio with its interval.
func ratioText(s stat.Summary) string {
	if s.N == 0 {
		return "–"
	}
	return strconv.FormatFloat(s.Median, 'f', 2, 64) + spreadText(s)
}

// digits formats a number with three significant digits.
func digits(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0:
		return "-" + digits(-v)
	case v == math.Trunc(v):
		return readable.Number(int64(v))
	case v >= 100:
		return readable.Number(int64(v + 0.5))
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.0001:
		return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(v))), 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// texts returns the text of each element of a list.
func texts[T any](list []T, text func(T) string) (all []string) {
	for _, one := range list {
		all = append(all, text(one))
	}
	return all
}

// newColumns returns a column of words, followed by columns of numbers.
func newColumns(first string, others ...string) []page.Column {
	c := []page.Column{{Title: first}}
	for _, title := range others {
		c = append(c, page.Column{Title: title, Right: true})
	}
	return c
}

// markBest marks the least figure of a column. A name is "" for a row without a figure.
func (r view) markBest(rows [][]page.Cell, column int, unit string, names []string) {
	best, least := -1, 0.0
	for i, name := range names {
		if s := r.Summary(name, unit); s.N > 0 && (best < 0 || s.Median < least) {
			best, least = i, s.Median
		}
	}
	if best >= 0 {
		rows[best][column].Class = page.Best
	}
}

// warnings summarises the warnings about benchmarks, one line per kind.
func (r view) warnings(names []string) (lines []string) {
	found := r.WarningsOf(names)
	for _, k := range []stat.Kind{stat.TooShort, stat.TooNoisy, stat.OneCore, stat.ElidingSuspected} {
		var alike []results.Warning
		for _, w := range found {
			if w.Kind == k {
				alike = append(alike, w)
			}
		}
		if len(alike) > 0 {
			lines = append(lines, warningLine(alike))
		}
	}
	return lines
}

// warningLine names a few of the affected figures, and the number of the others.
func warningLine(alike []results.Warning) string {
	const few = 3
	text := fmt.Sprintf("%v, %s: %s", alike[0].Kind, alike[0].Name, alike[0].Text)
	var others []string
	for _, w := range alike[1:min(len(alike), few)] {
		others = append(others, w.Name)
	}
	if len(others) > 0 {
		text += "; likewise " + strings.Join(others, ", ")
	}
	if more := len(alike) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// howMeasured describes how the figures were taken, for a number of runs.
func howMeasured(count int) string {
	switch {
	case count <= 1:
		return "Each figure is one run in a process of its own, so it has no confidence interval."
	case count < stat.SamplesMin:
		return fmt.Sprintf("Each figure is the median of %d runs, taken in turns, each in a process of its own. ± is the distance to the farthest run; a confidence interval of 95 %% needs %d runs.", count, stat.SamplesMin)
	}
	return fmt.Sprintf("Each figure is the median of %d runs, taken in turns, each in a process of its own. ± is the distance to the farther end of its 95 %% confidence interval.", count)
}

// figuresTable returns a table with a row for each benchmark and unit.
func (r view) figuresTable() page.Table {
	t := page.Table{Caption: "medians", Columns: []page.Column{{Title: "benchmark"}, {Title: "figure", Right: true}, {Title: "unit"}, {Title: "runs", Right: true}}}
	for _, name := range r.Names() {
		for _, unit := range r.Units(name) {
			t.Rows = append(t.Rows, append(page.Row(name), r.medianCell(name, unit, 1), page.Cell{Text: unit}, page.Cell{Text: fmt.Sprint(len(r.Figures(name, unit)))}))
		}
	}
	return t
}

// SpawnReport reports the results of [Spawn].
func SpawnReport(of *Results, o SpawnOptions) Report {
	r := view{of}
	d := newDocument(of, "The cost of a goroutine",
		"A function computes square roots and sends the result over a channel. It is called in a loop, and each call in a goroutine of its own. All goroutines start before the first result is taken. Times include garbage collection. At GOMAXPROCS 1 a ratio is one of processor time.",
		howMeasured(o.Count))
	for _, procs := range o.Procs {
		d.Sections = append(d.Sections, r.spawnSection(o, procs))
	}
	d.Sections = append(d.Sections, r.breakEvenSection(o), r.memorySection(o))
	if peers := r.impls(); len(peers) > 1 {
		d.Sections = append(d.Sections, r.peersSection(o, peers))
	}
	return Report{document: d}
}

// loopName returns the name of calls in a loop that sends.
func loopName(work, count, procs int) string {
	return SpawnName(run.Muster, string(probe.Sending), work, count, procs)
}

// goName returns the name of calls in goroutines.
func goName(work, count, procs int) string {
	return SpawnName(run.Muster, string(probe.Each), work, count, procs)
}

// bareName returns the name of calls in a loop that sends nothing.
func bareName(work, procs int) string {
	return SpawnName(run.Muster, string(probe.Bare), work, directCalls(work), procs)
}

// timeRatio returns the time of a ÷ the time of b, round by round.
func (r view) timeRatio(a, b string) stat.Summary { return r.Ratio(a, b, r.TimeUnit(a, b)) }

func (r view) spawnSection(o SpawnOptions, procs int) page.Section {
	s := page.Section{Title: fmt.Sprintf("Goroutine ÷ loop, GOMAXPROCS %d", procs)}
	var all []string
	t := page.Table{Caption: "time in goroutines ÷ time in a loop, both with a send for each call", Columns: newColumns("goroutines", texts(o.Work, rootsText)...)}
	chart := plot.Chart{
		Title: fmt.Sprintf("Goroutine ÷ loop, GOMAXPROCS %d", procs),
		X:     plot.Axis{Label: "goroutines alive", Log: true}, Y: plot.Axis{Label: "goroutine ÷ loop", Log: true},
	}
	for i, work := range o.Work {
		l := plot.Line{Name: rootsText(work), Muted: i >= linesMax}
		for _, count := range o.Goroutines {
			each, loop := goName(work, count, procs), loopName(work, count, procs)
			l.Points = append(l.Points, summaryPoint(float64(count), r.timeRatio(each, loop))...)
			all = append(all, each, loop)
		}
		all = append(all, bareName(work, procs))
		chart.Lines = append(chart.Lines, l)
	}
	for _, count := range o.Goroutines {
		row := page.Row(readable.Number(int64(count)))
		for _, work := range o.Work {
			row = append(row, r.ratioCell(goName(work, count, procs), loopName(work, count, procs)))
		}
		t.Rows = append(t.Rows, row)
	}
	bare := page.Row("a loop without sends")
	for _, work := range o.Work {
		loops := texts(o.Goroutines, func(count int) string { return loopName(work, count, procs) })
		bare = append(bare, r.ratioCell(bareName(work, procs), loops...))
	}
	t.Rows = append(t.Rows, bare)
	s.Tables = []page.Table{r.callsTable(o, procs), t}
	s.Pictures = chart.Drawable()
	s.Warnings = r.warnings(all)
	return s
}

// ratioCell returns the time of a benchmark ÷ the time of the last measured loop, or the reason
// for its absence. The last loop has the most calls, so garbage collection distorts it least.
func (r view) ratioCell(name string, loops ...string) page.Cell {
	cell := page.Cell{Text: reasonText(r.Why(name))}
	for _, loop := range loops {
		if s := r.timeRatio(name, loop); s.N > 0 {
			cell.Text = ratioText(s)
		}
	}
	return cell
}

// callsTable returns the µs of a call, in a loop and in goroutines.
func (r view) callsTable(o SpawnOptions, procs int) page.Table {
	t := page.Table{Caption: "µs per call", Columns: newColumns("", texts(o.Work, rootsText)...)}
	add := func(title string, nameOf func(work int) string) {
		row := page.Row(title)
		for _, work := range o.Work {
			row = append(row, r.medianCell(nameOf(work), results.NsPerOp, 1000))
		}
		t.Rows = append(t.Rows, row)
	}
	add("in a loop without sends", func(work int) string { return bareName(work, procs) })
	for _, count := range o.Goroutines {
		add("in a loop, "+readable.Count(count, "call"), func(work int) string { return loopName(work, count, procs) })
		add("in "+readable.Count(count, "goroutine"), func(work int) string { return goName(work, count, procs) })
	}
	return t
}

func rootsText(work int) string {
	if work == 1 {
		return "1 root"
	}
	return readable.Number(int64(work)) + " roots"
}

// breakEvenSection reports for which work a goroutine costs at most a tenth.
func (r view) breakEvenSection(o SpawnOptions) page.Section {
	t := page.Table{
		Caption: "ns that a goroutine adds to a call, and the work for which that is a tenth",
		Columns: newColumns(fmt.Sprintf("goroutines, GOMAXPROCS %d", o.Procs[0]), "ns added", "work"),
	}
	work := o.Work[0]
	for _, count := range o.Goroutines {
		each, loop := goName(work, count, o.Procs[0]), loopName(work, count, o.Procs[0])
		s := r.Difference(each, loop, r.TimeUnit(each, loop))
		if s.N == 0 {
			continue
		}
		added := math.Max(0, s.Median)
		t.Rows = append(t.Rows, page.Row(readable.Number(int64(count)), digits(added)+spreadText(s), digits(10*added/1000)+" µs"))
	}
	return page.Section{Title: "Work for which a goroutine is cheap", Tables: []page.Table{t}}
}

func (r view) memorySection(o SpawnOptions) page.Section {
	t := page.Table{
		Caption: "bytes per waiting goroutine",
		Columns: newColumns("goroutines", "stack", "obtained from the system", "resident", "ns to start"),
	}
	c := plot.Chart{Title: "Bytes per goroutine", X: plot.Axis{Label: "waiting goroutines", Log: true}, Y: plot.Axis{Label: "bytes"}}
	var all []string
	units := []struct{ name, unit string }{{"stack", stackUnit}, {"obtained from the system", sysUnit}, {"resident", rssUnit}}
	for _, u := range units {
		c.Lines = append(c.Lines, r.medianLine(u.name, o.Goroutines, u.unit, func(count int) string {
			return SpawnName(run.Muster, "waiting", 0, count, 1)
		}))
	}
	for _, count := range o.Goroutines {
		name := SpawnName(run.Muster, "waiting", 0, count, 1)
		row := page.Row(readable.Number(int64(count)))
		for _, u := range append(units, struct{ name, unit string }{"", results.NsPerOp}) {
			row = append(row, r.medianCell(name, u.unit, 1))
		}
		t.Rows = append(t.Rows, row)
		all = append(all, name)
	}
	return page.Section{
		Title: "Memory of a goroutine", Tables: []page.Table{t}, Pictures: c.Drawable(), Warnings: r.warnings(all),
	}
}

// peersSection compares goroutines with the threads, tasks and processes of other languages.
func (r view) peersSection(o SpawnOptions, impls []string) page.Section {
	s := page.Section{
		Title: "Threads, tasks and processes of other languages",
		Text: []string{fmt.Sprintf("Each calls a function of %s. There are at most %s system threads. "+
			"Figures of Go are at GOMAXPROCS %d.", rootsText(o.Work[0]), readable.Number(threadsMost), o.Procs[len(o.Procs)-1])},
	}
	var titles, all []string
	for _, count := range o.Goroutines {
		titles = append(titles, readable.Number(int64(count)))
		for _, impl := range impls[1:] { // the section above has the warnings about Go
			all = append(all, spawnPeerName(impl, "each", o, count), spawnPeerName(impl, "waiting", o, count))
		}
	}
	s.Warnings = r.warnings(all)
	for _, kind := range []struct{ caption, mode, unit string }{
		{"ns per call of the function with its result, all alive at the same time", "each", results.NsPerOp},
		{"ns per start, when all wait", "waiting", results.NsPerOp},
		{"bytes of resident memory each, when all wait", "waiting", rssUnit},
	} {
		t := page.Table{Caption: kind.caption, Columns: newColumns("", titles...)}
		for _, impl := range impls {
			row := page.Row(impl)
			for _, count := range o.Goroutines {
				row = append(row, r.medianCell(spawnPeerName(impl, kind.mode, o, count), kind.unit, 1))
			}
			t.Rows = append(t.Rows, row)
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

func spawnPeerName(impl, mode string, o SpawnOptions, count int) string {
	switch {
	case impl == run.Muster && mode == "waiting":
		return SpawnName(impl, mode, 0, count, 1)
	case impl == run.Muster:
		return SpawnName(impl, mode, o.Work[0], count, o.Procs[len(o.Procs)-1])
	}
	return SpawnName(impl, mode, o.Work[0], count, 0)
}
