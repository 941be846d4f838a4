package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"muster/bench/timing"
)

// The goals.
const (
	rateMin     = 5000    // cases a second, of a million on two cores
	memoryMax   = 1e9     // bytes
	requestsMax = 4       // of one kind at once
	batchMax    = 4 << 20 // bytes of contents in one request
)

// coresAsked are the cores for which the model is asked.
var coresAsked = []int{2, 8, 64, 256}

func (m *measured) print(out io.Writer, o options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured %s on %d CPUs, %s; %s. The engine has %d slots, and an action takes %v in its slot. Figures are medians; CPU is that of the whole process, start and end included.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), runtime.Version(), m.tools, o.slots, o.takes)
	if o.only != "model" || len(m.of(kind{"record", false, 2, o.repeat})) > 0 {
		m.printLarge(&b, o)
	}
	if len(m.Parts) > 0 {
		m.printParts(&b)
		m.printCheck(&b)
		m.printCores(&b, o)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func rateOf(r ran) float64 { return float64(r.Cases) / r.Wall.Seconds() }

func micros(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e3) }

func (m *measured) printLarge(b *strings.Builder, o options) {
	fmt.Fprintf(b, "\n## %d cases, muster and the engine on two cores\n\n", o.cases)
	if o.repeat > 1 {
		fmt.Fprintf(b, "Each case runs %d times, and each run counts as a case.\n\n", o.repeat)
	}
	b.WriteString("| | rounds | cases/s | least–most | CPU of muster, µs a case | of the engine, µs a case | share of the engine | peak MB of muster | MB of the golden |\n|---|---|---|---|---|---|---|---|---|\n")
	var all []ran
	for _, command := range commands {
		runs := m.of(kind{command, false, 2, o.repeat})
		if len(runs) == 0 {
			continue
		}
		all = append(all, runs...)
		rates := make([]float64, len(runs))
		for i, r := range runs {
			rates[i] = rateOf(r)
		}
		own := median(runs, func(r ran) time.Duration { return each(r.CPU(), r.Cases) })
		engine := median(runs, func(r ran) time.Duration { return each(r.Engine, r.Cases) })
		fmt.Fprintf(b, "| %s | %d | %.0f | %.0f–%.0f | %s | %s | %.0f %% | %.0f | %.0f |\n", command, len(runs), timing.Median(rates), slices.Min(rates), slices.Max(rates),
			micros(own), micros(engine), 100*float64(engine)/float64(engine+own), median(runs, func(r ran) float64 { return float64(r.Peak) / 1e6 }), median(runs, func(r ran) float64 { return float64(r.Golden) / 1e6 }))
	}
	b.WriteString("\nWhat the engine saw at once, the most in any of these runs:\n\n| | at once | of the largest one |\n|---|---|---|\n")
	for _, row := range []struct {
		name, unit string
		of         func(report) count
	}{
		{"executions", "action", func(r report) count { return r.Execute }},
		{"FindMissingBlobs", "digests", func(r report) count { return r.Find }},
		{"BatchUpdateBlobs", "bytes", func(r report) count { return r.Update }},
		{"BatchReadBlobs", "bytes", func(r report) count { return r.Read }},
	} {
		most := greatest(all, row.of)
		fmt.Fprintf(b, "| %s | %d | %d %s |\n", row.name, most.MostAtOnce, most.LargestOne, row.unit)
	}
	m.printGoals(b, all, o)
}

// greatest returns the largest figures of a count in all runs.
func greatest(runs []ran, of func(report) count) (most count) {
	for _, r := range runs {
		c := of(r.Saw)
		most.MostAtOnce, most.LargestOne = max(most.MostAtOnce, c.MostAtOnce), max(most.LargestOne, c.LargestOne)
	}
	return most
}

func (m *measured) printGoals(b *strings.Builder, all []ran, o options) {
	b.WriteString("\n| goal | measured | limit | |\n|---|---|---|---|\n")
	goal := func(name, measured, limit string, met bool) {
		verdict := "met"
		if !met {
			verdict = "**not met**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", name, measured, limit, verdict)
	}
	for _, command := range commands {
		if runs := m.of(kind{command, false, 2, o.repeat}); len(runs) > 0 {
			rate := median(runs, rateOf)
			goal(command+", cases a second", fmt.Sprintf("%.0f", rate), fmt.Sprintf("at least %d", rateMin), rate >= rateMin)
		}
	}
	var peak int64
	for _, r := range all {
		peak = max(peak, r.Peak)
	}
	goal("memory, the most of any run", fmt.Sprintf("%.0f MB", float64(peak)/1e6), fmt.Sprintf("at most %.0f MB", memoryMax/1e6), peak <= memoryMax)
	most := greatest(all, func(r report) count { return r.Execute }).MostAtOnce
	goal("executions at once", fmt.Sprint(most), fmt.Sprintf("at most %d, jobs of [engine]", o.slots), most <= int64(o.slots))
	requests, batch := count{}, count{}
	for _, of := range []func(report) count{func(r report) count { return r.Find }, func(r report) count { return r.Update }, func(r report) count { return r.Read }} {
		requests.MostAtOnce = max(requests.MostAtOnce, greatest(all, of).MostAtOnce)
	}
	for _, of := range []func(report) count{func(r report) count { return r.Update }, func(r report) count { return r.Read }} {
		batch.LargestOne = max(batch.LargestOne, greatest(all, of).LargestOne)
	}
	goal("requests of a kind at once", fmt.Sprint(requests.MostAtOnce), fmt.Sprintf("at most %d", requestsMax), requests.MostAtOnce <= requestsMax)
	goal("contents in a request", fmt.Sprintf("%.1f MB", float64(batch.LargestOne)/1e6), fmt.Sprintf("at most %.1f MB", batchMax/1e6), batch.LargestOne <= batchMax)
}

// column is a command on an engine or in lanes.
type column struct {
	name, command string
	lanes         bool
}

var columns = []column{{"record, engine", "record", false}, {"check, engine", "check", false}, {"record, lanes", "record", true}, {"check, lanes", "check", true}}

func header(b *strings.Builder, first string) {
	fmt.Fprintf(b, "| %s |", first)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c.name)
	}
	fmt.Fprintf(b, "\n|%s\n", strings.Repeat("---|", len(columns)+1))
}

func (m *measured) printParts(b *strings.Builder) {
	engine, lanes := m.of(kind{"record", false, 2, 0}), m.of(kind{"record", true, 2, 0})
	fmt.Fprintf(b, "\n## The parts\n\nµs of CPU a case, of %d cases on the engine and of %d of `true` in lanes.\n\n", engine[0].Cases, lanes[0].Cases)
	header(b, "part")
	row := func(name string, of func(costs) time.Duration) {
		fmt.Fprintf(b, "| %s |", name)
		for _, c := range columns {
			fmt.Fprintf(b, " %s |", micros(of(m.costsOf(c.command, c.lanes))))
		}
		b.WriteString("\n")
	}
	row("all of muster; in lanes with helpers and tool", func(c costs) time.Duration { return c.cpu })
	for i, p := range limitedParts {
		row(p.name, func(c costs) time.Duration { return c.parts[i] })
	}
}

// printCheck compares the model with what one and two cores gave.
func (m *measured) printCheck(b *strings.Builder) {
	b.WriteString("\n## The model on one and two cores\n\nCases a second. With one core for muster, the engine has the other; two cores it shares with muster.\n\n")
	b.WriteString("| | cores | model | measured | measured ÷ model |\n|---|---|---|---|---|\n")
	for _, c := range columns {
		for _, cores := range []int{1, 2} {
			costs, runs := m.costsOf(c.command, c.lanes), m.of(kind{c.command, c.lanes, cores, 0})
			if cores == 2 {
				costs.engine = median(runs, func(r ran) time.Duration { return each(r.Engine, r.Cases) })
			}
			model, _ := costs.rate(cores)
			got := median(runs, rateOf)
			fmt.Fprintf(b, "| %s | %d | %.0f | %.0f | %.2f |\n", c.name, cores, model, got, got/model)
		}
	}
}

func (m *measured) printCores(b *strings.Builder, o options) {
	fmt.Fprintf(b, "\n## More cores, by the model\n\nCases a second of muster, with an engine elsewhere that is fast enough, and what limits. With an action of %v, a thousand cases a second need %.0f slots.\n\n", o.takes, 1000*o.takes.Seconds())
	header(b, "cores")
	for _, cores := range coresAsked {
		fmt.Fprintf(b, "| %d |", cores)
		for _, c := range columns {
			rate, limit := m.costsOf(c.command, c.lanes).rate(cores)
			fmt.Fprintf(b, " %.0f, %s |", rate, cmp.Or(limit, "the cores"))
		}
		b.WriteString("\n")
	}
	b.WriteString("| the most |")
	for _, c := range columns {
		rate, limit, cores := m.costsOf(c.command, c.lanes).highest()
		if limit == "" {
			b.WriteString(" no part limits it |")
			continue
		}
		fmt.Fprintf(b, " %.0f, from %d cores: %s |", rate, cores, limit)
	}
	b.WriteString("\n")
}
