package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/bench/timing"
	"muster/lab/corpora"
)

// head says on what and when this was measured.
func (b *bench) head(ctx context.Context) {
	var versions []string
	for _, p := range b.musters {
		text, _ := exec.CommandContext(ctx, p.path, "version").Output()
		version := strings.TrimSpace(string(text))
		if len(b.musters) > 1 {
			version = p.name + ": " + version
		}
		versions = append(versions, version)
	}
	fmt.Fprintf(b.out, "Measured %s on %s, %d CPUs, kernel %s, %s; %s; %d rounds, interleaved, medians.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), model(), runtime.NumCPU(), kernel(), runtime.Version(),
		strings.Join(versions, "; "), b.rounds)
}

func model() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return runtime.GOARCH
}

func kernel() string {
	text, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(text))
}

// row is one line of the table.
type row struct {
	name    string
	kind    string   // of the rows that goals compare, or ""
	of      *subject // nil for a rival
	samples []timing.Sample
	run     func(context.Context) (timing.Sample, error)
}

// compare runs every rival and muster, in turns.
func (m *measured) compare(ctx context.Context) error {
	rows := m.rows(func(string) bool { return true })
	if err := m.interleave(ctx, rows); err != nil {
		return err
	}
	m.print(rows)
	for _, s := range m.subjects {
		if err := s.indexAndManyLanes(ctx); err != nil {
			return err
		}
	}
	return nil
}

// interleave runs every row once in each round.
func (m *measured) interleave(ctx context.Context, rows []row) error {
	for round := range m.rounds {
		for _, i := range order(round, len(rows)) {
			r := &rows[i]
			fmt.Fprintf(os.Stderr, "%s %s round %d: %s          \r", m.spec.Name, m.tool.name, round+1, r.name)
			s, err := r.run(ctx)
			if err != nil {
				return err
			}
			r.samples = append(r.samples, s)
			if err := clean(m.place.dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// order is that of a round: by chance, as what ran before leaves its mark, the same
// every time.
func order(round, rows int) []int { return rand.New(rand.NewPCG(uint64(round), 0)).Perm(rows) }

// rows are the runs of one round, of the wanted kinds.
func (m *measured) rows(wanted func(kind string) bool) (rows []row) {
	jobs := strconv.Itoa(m.jobs)
	for _, s := range m.subjects {
		rows = append(rows,
			row{name: "**" + s.called("muster check") + "**", kind: rowCheck, of: s, run: func(ctx context.Context) (timing.Sample, error) { return s.check(ctx, jobs) }},
			row{name: s.called("muster record --repeat 2"), kind: rowRecord, of: s, run: func(ctx context.Context) (timing.Sample, error) { return s.recordTwice(ctx, jobs) }})
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !wanted(r.kind) })
	cases := corpora.Cases(m.spec)
	for _, r := range rivals(m.place) {
		if !wanted(r.kind) {
			continue
		}
		if r.missing() {
			fmt.Fprintf(m.out, "\nNot here: %s.\n", r.name)
			continue
		}
		rows = append(rows, row{name: r.name, kind: r.kind, run: func(ctx context.Context) (timing.Sample, error) {
			if r.prepare != nil {
				if err := r.prepare(m.place, m.tool, cases); err != nil {
					return timing.Sample{}, err
				}
			}
			return timing.Run(ctx, r.timed(m.place, m.tool), nil, r.accepted...)
		}})
	}
	return rows
}

func (m *measured) print(rows []row) {
	var all []summary
	for _, s := range m.subjects {
		all = append(all, s.summaries...)
	}
	tool, cores := median(all, toolCPU)/1000, min(m.jobs, runtime.NumCPU())
	limit := tool / float64(cores)
	var base []timing.Sample
	for _, r := range rows {
		if strings.HasPrefix(r.name, "make") {
			base = r.samples
		}
	}
	fmt.Fprintf(m.out, "\n## %s, %s: %d cases, %d at once\n\n", m.tool.name, m.spec.Name, m.spec.Cases, m.jobs)
	fmt.Fprintf(m.out, "Limit: the tool's own %.2f s of CPU ÷ %d cores = %.2f s.\n\n", tool, cores, limit)
	fmt.Fprint(m.out, "| | wall s | least–most | ÷ limit | ÷ make | user s | sys s |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		least, most := r.extremes()
		fmt.Fprintf(m.out, "| %s | %.2f | %.2f–%.2f | %s | %s | %.2f | %.2f |\n", r.name, r.wall(), least, most,
			ratio(r.wall(), limit), r.beside(base), r.user(), r.sys())
	}
	for _, s := range m.subjects {
		fmt.Fprintf(m.out, "\n%s: %.0f µs of CPU a case, lanes and all.\n", s.called("muster itself"), m.perCase(median(s.summaries, ownCPU)))
	}
}

// beside is the median of the ratios of each round: of two runs that are close in time,
// so what the machine does meanwhile counts less than in a ratio of medians.
func (r *row) beside(base []timing.Sample) string {
	var ratios []float64
	for i, b := range base {
		ratios = append(ratios, float64(r.samples[i].Wall)/float64(b.Wall))
	}
	return ratio(timing.Median(ratios), 1)
}

// ratio returns a dash if there is nothing to compare with.
func ratio(a, b float64) string {
	if a == 0 || b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}

func wall(s timing.Sample) time.Duration { return s.Wall }
func user(s timing.Sample) time.Duration { return s.User }
func sys(s timing.Sample) time.Duration  { return s.Sys }

func (r row) median(figure func(timing.Sample) time.Duration) float64 {
	return timing.Median(timing.Of(r.samples, figure)).Seconds()
}

func (r row) wall() float64 { return r.median(wall) }
func (r row) user() float64 { return r.median(user) }
func (r row) sys() float64  { return r.median(sys) }

// extremes are the least and the most that a round took.
func (r row) extremes() (least, most float64) {
	walls := timing.Of(r.samples, wall)
	return slices.Min(walls).Seconds(), slices.Max(walls).Seconds()
}

// manyJobs is more than any machine of today has cores.
const manyJobs = "128"

// indexAndManyLanes prints what no row has: the time of the archive's index, and the effect of
// very many lanes.
func (s *subject) indexAndManyLanes(ctx context.Context) error {
	var index []time.Duration
	for range s.rounds {
		sample, err := timing.Run(ctx, timing.Command{Args: []string{s.path, "cases", s.place.archive}, Dir: s.dir}, nil)
		if err != nil {
			return err
		}
		index = append(index, sample.Wall)
	}
	few, _, err := s.watched(ctx, strconv.Itoa(s.jobs))
	if err != nil {
		return err
	}
	many, sum, err := s.watched(ctx, manyJobs)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\n%s (all of muster's processes and their lanes' files) and threads of the parent: %.1f MB and %d; with --jobs %s %.1f MB and %d, and %.0f µs of its own CPU a case. muster cases, which indexes the archive and no more: %.0f ms.\n",
		s.called("Memory"), float64(few.memory)/1e6, few.threads, manyJobs, float64(many.memory)/1e6, many.threads,
		s.perCase(sum.Own), float64(timing.Median(index).Microseconds())/1000)
	return nil
}
