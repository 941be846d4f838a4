package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"muster/bench/corpora"
	"muster/bench/timing"
)

// head says on what and when this was measured.
func (b *bench) head() {
	version, _ := exec.Command(b.muster, "version").Output()
	fmt.Printf("Measured %s on %s, %d CPUs, kernel %s, %s; %s; %d rounds, interleaved, medians.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), model(), runtime.NumCPU(), kernel(), runtime.Version(),
		strings.TrimSpace(string(version)), b.rounds)
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

// summary is the last line of muster's JSON.
type summary struct {
	CPU   float64 `json:"cpu_ms"`
	Own   float64 `json:"own_cpu_ms"`
	Busy  float64 `json:"cores_busy"`
	Cases int     `json:"cases"`
}

// row is one line of the table.
type row struct {
	name    string
	samples []timing.Sample
	run     func(context.Context) (timing.Sample, error)
}

// compare runs every rival and muster, in turns.
func (b *bench) compare(ctx context.Context, spec corpora.Spec, t tool) error {
	m, err := b.set(ctx, spec, t)
	if err != nil {
		return err
	}
	defer os.RemoveAll(m.place.dir)
	rows := m.rows()
	for round := range b.rounds {
		for i := range rows {
			r := &rows[(i+round)%len(rows)]
			fmt.Fprintf(os.Stderr, "%s %s round %d: %s          \r", spec.Name, t.name, round+1, r.name)
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
	m.print(rows)
	return m.indexAndManyLanes(ctx)
}

// manyJobs is more than any machine of today has cores.
const manyJobs = "128"

// indexAndManyLanes tells what stands in no row: how long the archive's index takes, and what
// very many lanes do.
func (m *measured) indexAndManyLanes(ctx context.Context) error {
	var index []time.Duration
	for range m.rounds {
		s, err := timing.Run(ctx, timing.Command{Args: []string{m.muster, "cases", m.place.archive}, Dir: m.work}, nil)
		if err != nil {
			return err
		}
		index = append(index, s.Wall)
	}
	few, err := m.watched(ctx, strconv.Itoa(m.jobs))
	if err != nil {
		return err
	}
	m.summaries = nil
	many, err := m.watched(ctx, manyJobs)
	if err != nil {
		return err
	}
	fmt.Printf("\nMemory (all of muster's processes and their lanes' files) and threads of the parent: %.1f MB and %d; with --jobs %s %.1f MB and %d, and %.0f µs of its own CPU a case. muster cases, which indexes the archive and no more: %.0f ms.\n",
		float64(few.memory)/1e6, few.threads, manyJobs, float64(many.memory)/1e6, many.threads,
		m.summaries[0].Own*1000/float64(m.spec.Cases), float64(timing.Median(index).Microseconds())/1000)
	return nil
}

// measured is one tool on one corpus.
type measured struct {
	*bench
	place  place
	spec   corpora.Spec
	tool   tool
	golden string

	summaries []summary
}

// set writes the corpus and records the golden.
func (b *bench) set(ctx context.Context, spec corpora.Spec, t tool) (*measured, error) {
	archive := filepath.Join(b.work, spec.Name+".tar")
	if _, err := os.Stat(archive); err != nil {
		if err := corpora.Write(archive, spec); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(b.work, spec.Name+"-"+t.name)
	if err := corpora.Unpack(dir, spec); err != nil {
		return nil, err
	}
	if err := writeList(dir, spec); err != nil {
		return nil, err
	}
	m := &measured{bench: b, place: place{dir, archive, b.jobs, b.goport}, spec: spec, tool: t, golden: filepath.Join(b.work, spec.Name+"-"+t.name+".golden")}
	_, err := timing.Run(ctx, m.command("record", "--repeat", "1"), nil)
	return m, err
}

func (m *measured) command(words ...string) timing.Command {
	args := append([]string{m.muster}, words...)
	args = append(args, m.place.archive, "--golden", m.golden, "--state", m.golden+".state", "--format", "json", "--quiet", "--")
	return timing.Command{Args: append(args, m.tool.with("{in}", "{out}")...), Dir: m.work}
}

// rows are the runs of one round.
func (m *measured) rows() []row {
	jobs := strconv.Itoa(m.jobs)
	rows := []row{
		{name: "**muster check**", run: func(ctx context.Context) (timing.Sample, error) { return m.check(ctx, jobs) }},
		{name: "muster record --repeat 2", run: func(ctx context.Context) (timing.Sample, error) {
			c := m.command("record", "--repeat", "2", "--jobs", jobs)
			for i, a := range c.Args {
				if a == m.golden {
					c.Args[i] = m.golden + ".2"
				}
			}
			return timing.Run(ctx, c, nil)
		}},
	}
	cases := corpora.Cases(m.spec)
	for _, r := range rivals(m.place) {
		if r.missing() {
			fmt.Printf("\nNot here: %s.\n", r.name)
			continue
		}
		rows = append(rows, row{name: r.name, run: func(ctx context.Context) (timing.Sample, error) {
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

// watched is check while somebody looks what it takes, which costs it time.
func (m *measured) watched(ctx context.Context, jobs string) (usage, error) {
	stop, used := make(chan struct{}), make(chan usage)
	go func() { used <- watch(m.muster, stop, 50*time.Millisecond) }()
	_, err := m.check(ctx, jobs)
	close(stop)
	return <-used, err
}

// check runs muster check, and notes what it says of itself.
func (m *measured) check(ctx context.Context, jobs string) (timing.Sample, error) {
	var out bytes.Buffer
	s, err := timing.Run(ctx, m.command("check", "--jobs", jobs), &out)
	if err != nil {
		return s, err
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	var sum summary
	if err := json.Unmarshal(lines[len(lines)-1], &sum); err != nil {
		return s, err
	}
	m.summaries = append(m.summaries, sum)
	return s, nil
}

// of takes one figure of all summaries.
func (m *measured) of(figure func(summary) float64) float64 {
	values := make([]float64, len(m.summaries))
	for i, s := range m.summaries {
		values[i] = figure(s)
	}
	return timing.Median(values)
}

func (m *measured) print(rows []row) {
	toolCPU := m.of(func(s summary) float64 { return s.CPU })
	limit := toolCPU / 1000 / float64(min(m.jobs, runtime.NumCPU()))
	base := 0.0
	for _, r := range rows {
		if strings.HasPrefix(r.name, "make") {
			base = wall(r).Seconds()
		}
	}
	fmt.Printf("\n## %s, %s: %d cases, %d at once\n\n", m.tool.name, m.spec.Name, m.spec.Cases, m.jobs)
	fmt.Printf("Limit: the tool's own %.2f s of CPU ÷ %d cores = %.2f s.\n\n", toolCPU/1000, min(m.jobs, runtime.NumCPU()), limit)
	fmt.Print("| | wall s | least–most | ÷ limit | ÷ make | user s | sys s |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		walls := timing.Of(r.samples, func(s timing.Sample) time.Duration { return s.Wall })
		least, most := walls[0], walls[0]
		for _, w := range walls {
			least, most = min(least, w), max(most, w)
		}
		fmt.Printf("| %s | %.2f | %.2f–%.2f | %.2f | %.2f | %.2f | %.2f |\n", r.name, wall(r).Seconds(), least.Seconds(), most.Seconds(),
			wall(r).Seconds()/limit, wall(r).Seconds()/base,
			timing.Median(timing.Of(r.samples, func(s timing.Sample) time.Duration { return s.User })).Seconds(),
			timing.Median(timing.Of(r.samples, func(s timing.Sample) time.Duration { return s.Sys })).Seconds())
	}
	own := m.of(func(s summary) float64 { return s.Own })
	fmt.Printf("\nmuster itself: %.0f µs of CPU a case, lanes and all.\n", own*1000/float64(m.spec.Cases))
}

func wall(r row) time.Duration {
	return timing.Median(timing.Of(r.samples, func(s timing.Sample) time.Duration { return s.Wall }))
}

// article prints what an article's table did: the same work by number of jobs.
func (b *bench) article(ctx context.Context, spec corpora.Spec, t tool) error {
	m, err := b.set(ctx, spec, t)
	if err != nil {
		return err
	}
	defer os.RemoveAll(m.place.dir)
	jobs := []string{"0", "1", "2", "4", "8", "16", "32"}
	samples := map[string][]timing.Sample{}
	summaries := map[string][]summary{}
	for range b.rounds {
		for _, j := range jobs {
			m.summaries = nil
			s, err := m.check(ctx, j)
			if err != nil {
				return err
			}
			samples[j], summaries[j] = append(samples[j], s), append(summaries[j], m.summaries...)
		}
	}
	fmt.Printf("\n## %s, %s: muster check by number of jobs\n\n| jobs | real s | user s | sys s | cores busy | muster's own CPU |\n|---|---|---|---|---|---|\n", t.name, spec.Name)
	for _, j := range jobs {
		m.summaries = summaries[j]
		real := wall(row{samples: samples[j]}).Seconds()
		cpu := m.of(func(s summary) float64 { return s.CPU })
		own := m.of(func(s summary) float64 { return s.Own })
		fmt.Printf("| %s | %.2f | %.2f | %.2f | %.2f | %.0f %% |\n", j, real,
			timing.Median(timing.Of(samples[j], func(s timing.Sample) time.Duration { return s.User })).Seconds(),
			timing.Median(timing.Of(samples[j], func(s timing.Sample) time.Duration { return s.Sys })).Seconds(),
			m.of(func(s summary) float64 { return s.Busy }), 100*own/(own+cpu))
	}
	return nil
}
