package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"muster/bench/timing"
)

// figure is the median of what some runs have of one thing.
func figure[T int64 | float64 | time.Duration](runs []ran, of func(ran) T) T {
	values := make([]T, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	return timing.Median(values)
}

// each is for one case, in milliseconds.
func each(d time.Duration, cases int) float64 {
	return d.Seconds() * 1000 / float64(max(1, cases))
}

func musterEach(r ran) float64         { return each(r.CPU(), r.cases) }
func engineEach(r ran) float64         { return each(r.engine, r.cases) }
func wall(r ran) time.Duration         { return r.Wall }
func peak(r ran) float64               { return float64(r.peak) / 1e6 }
func (r ran) per(n int64) float64      { return float64(n) / float64(max(1, r.cases)) }
func (r ran) method(name string) int64 { return r.methods[name].count }

func (b *bench) print(ctx context.Context, m *measured) {
	version, _ := exec.CommandContext(ctx, b.muster, "version").Output()
	fmt.Fprintf(b.out, "Measured %s on %d CPUs, %s; %s; %d rounds, in turns, medians. CPU is that of the whole process, start and end included.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), runtime.Version(), strings.TrimSpace(string(version)), b.rounds)
	if b.tiny {
		fmt.Fprint(b.out, "\n**A few cases only: what muster takes to start is most of each figure, and goals mean nothing.**\n")
	}
	fmt.Fprint(b.out, "\nThe engine is buildbox-casd by scripts/remote-engine, on the same CPUs. It executes a few hundred cases itself. Thousands are executed by a stand-in in the benchmark, which does what the tool does without a sandbox and leaves the result in the engine's cache (UpdateActionResult); for muster it is the same but that it is faster. All cases are given 200 headers, and what is not identical would end the benchmark.\n")
	b.perCase(m)
	b.turns(m)
	b.there(m)
	b.project(m)
	b.goals(m)
}

func (b *bench) perCase(m *measured) {
	fmt.Fprint(b.out, "\n## A case\n\n")
	fmt.Fprint(b.out, "| sources | cases | | muster, ms of CPU | engine, ms of CPU | peak MB | requests | bytes sent | bytes received | wall s |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range m.sizes {
		one := r.runs[0]
		requests, sent, received := "–", "–", "–" // past the wire
		if one.requests > 0 {
			requests = fmt.Sprintf("%.2f", one.per(one.requests))
			sent, received = fmt.Sprintf("%.0f", one.per(one.traffic.sent)), fmt.Sprintf("%.0f", one.per(one.received))
		}
		fmt.Fprintf(b.out, "| %s | %d | %s | %.2f | %.2f | %.0f | %s | %s | %s | %.1f |\n", r.corpus, one.cases, r.what,
			figure(r.runs, musterEach), figure(r.runs, engineEach), figure(r.runs, peak), requests, sent, received, figure(r.runs, wall).Seconds())
	}
	fmt.Fprint(b.out, "\nRequests and bytes are counted between muster and the engine, bytes on the connection with all that is around messages; walls of these rows are of a run through that counter.\n")
}

func (b *bench) turns(m *measured) {
	one := m.known[0].rounds[0]
	fmt.Fprintf(b.out, "\n## %d cases of which all results are known\n\n", one.cases)
	fmt.Fprint(b.out, "| | at once | wall s | least–most | cases/s | muster, ms of CPU | engine, ms of CPU | ÷ the bare client |\n|---|---|---|---|---|---|---|---|\n")
	base := m.known[len(m.known)-2]
	for _, t := range m.known {
		walls := make([]time.Duration, len(t.rounds))
		for i, r := range t.rounds {
			walls[i] = r.Wall
		}
		own := "–"
		if t.rounds[0].peak > 0 {
			own = fmt.Sprintf("%.2f", figure(t.rounds, musterEach))
		}
		w := timing.Median(walls).Seconds()
		fmt.Fprintf(b.out, "| %s | %d | %.2f | %.2f–%.2f | %.0f | %s | %.2f | %.2f |\n", t.name, t.jobs, w, slices.Min(walls).Seconds(), slices.Max(walls).Seconds(),
			float64(one.cases)/w, own, figure(t.rounds, engineEach), t.beside(base))
	}
}

// beside is the median of the ratios of each round.
func (t *timed) beside(base timed) float64 {
	ratios := make([]float64, len(t.rounds))
	for i, r := range t.rounds {
		ratios[i] = r.Wall.Seconds() / base.rounds[i].Wall.Seconds()
	}
	return timing.Median(ratios)
}

func (b *bench) there(m *measured) {
	r := m.there
	fmt.Fprint(b.out, "\n## Large sources that are there\n\n")
	fmt.Fprintf(b.out, "%.2f GB, %d cases, another tool: %d look-ups in %d requests; asked again with nothing else going on, %d at a time, they take %.2f s. %.1f MB were sent in all, %.2f %% of the corpus: the actions' messages, %.1f MB in batches and %.1f MB as streams.\n",
		float64(b.large.Bytes)/1e9, r.cases, countLookups(r.lookups), r.method(lookupMethod), inFlightMax, timing.Median(m.lookups).Seconds(),
		float64(r.traffic.sent)/1e6, 100*float64(r.traffic.sent)/float64(b.large.Bytes), float64(r.methods["BatchUpdateBlobs"].sent)/1e6, float64(r.methods["Write"].sent)/1e6)
}

const million = 1_000_000

// project says what a million cases of the small sources come to.
func (b *bench) project(m *measured) {
	fmt.Fprint(b.out, "\n## A million cases, by these figures\n\n")
	fmt.Fprint(b.out, "| | requests | sent GB | received GB | muster, hours of CPU | MB of memory |\n|---|---|---|---|---|---|\n")
	smaller, larger := m.pair("executed by the stand-in")
	b.projected("first run, small sources", smaller, larger)
	smaller, larger = m.pair("all known")
	b.projected("all known, small sources", smaller, larger)
	fmt.Fprint(b.out, "\nMemory is that of the largest corpus, and what a case more took between the two largest ones.\n")
}

// pair are the runs of one kind over the two largest corpora of small sources.
func (m *measured) pair(what string) (smaller, larger ran) {
	for _, r := range m.sizes {
		if r.corpus == "small" && r.what == what {
			smaller, larger = larger, r.runs[0]
		}
	}
	return smaller, larger
}

func (b *bench) projected(what string, smaller, larger ran) {
	times := million / float64(larger.cases)
	slope := float64(larger.peak-smaller.peak) / float64(max(1, larger.cases-smaller.cases))
	memory := float64(larger.peak) + max(0, slope)*float64(million-larger.cases)
	fmt.Fprintf(b.out, "| %s | %.1f million | %.1f | %.1f | %.2f | %.0f |\n", what, float64(larger.requests)*times/1e6,
		float64(larger.traffic.sent)*times/1e9, float64(larger.received)*times/1e9, larger.CPU().Hours()*times, memory/1e6)
}

func (b *bench) goals(m *measured) {
	fmt.Fprint(b.out, "\n## The goals\n\n| | measured | goal | |\n|---|---|---|---|\n")
	goal := func(what string, is, most float64, unit string) {
		met := "met"
		if is > most {
			met = "**not met**"
		}
		fmt.Fprintf(b.out, "| %s | %.2f %s | at most %.4g %s | %s |\n", what, is, unit, most, unit, met)
	}
	_, first := m.pair("executed by the stand-in")
	_, known := m.pair("all known")
	goal("muster's CPU for a case that the engine executes", figure(m.sizes[0].runs, musterEach), 2, "ms")
	goal("the same, executed by the stand-in", musterEach(first), 2, "ms")
	goal("muster's CPU for a case that is known", figure(m.known[0].rounds, musterEach), 2, "ms")
	goal(fmt.Sprintf("a check of %d cases that are all known", known.cases), figure(m.known[0].rounds, wall).Seconds(), 20, "s")
	goal("the same ÷ the bare client that also reads which files there are", m.known[0].beside(m.known[len(m.known)-1]), 1.25, "×")
	goal("look-ups of large sources that are there", timing.Median(m.lookups).Seconds(), 2, "s")
	goal("all that is sent then, as a part of the corpus", 100*float64(m.there.traffic.sent)/float64(b.large.Bytes), 5, "%")
	var peaks []float64
	for _, r := range m.sizes {
		peaks = append(peaks, peak(r.runs[0]))
	}
	goal("memory, the most of any run here", slices.Max(peaks), 300, "MB")
}
