package main

import (
	"context"
	"fmt"

	"muster/bench/timing"
)

// article prints the table of "Multithreaded Go programming" (habr.com/ru/post/117842,
// 2011) for this machine: the same work by number of jobs, of each muster. There 15,000
// sources of slightly under 1 GB took 213.81 s one after another, and 38.38 s with 32
// workers on 8 processors.
func (m *measured) article(ctx context.Context) error {
	jobs := []string{"0", "1", "2", "4", "8", "16", "32"}
	lines := make([][]articleLine, len(m.subjects))
	for i := range lines {
		lines[i] = make([]articleLine, len(jobs))
	}
	for round := range m.rounds {
		for n, j := range jobs {
			for k := range m.subjects {
				i := (k + round) % len(m.subjects)
				if err := lines[i][n].add(m.subjects[i].checkOnce(ctx, j)); err != nil {
					return err
				}
			}
		}
	}
	for i, s := range m.subjects {
		fmt.Fprintf(m.out, "\n## %s, %s: %s by number of jobs\n\n| jobs | real s | user s | sys s | cores busy | muster's own CPU |\n|---|---|---|---|---|---|\n",
			m.tool.name, m.spec.Name, s.called("muster check"))
		for n, j := range jobs {
			fmt.Fprintf(m.out, "| %s %s", j, lines[i][n])
		}
	}
	return nil
}

// articleLine is what came of one number of jobs.
type articleLine struct {
	row
	summaries []summary
}

func (l *articleLine) add(sample timing.Sample, sum summary, err error) error {
	l.samples, l.summaries = append(l.samples, sample), append(l.summaries, sum)
	return err
}

func (l articleLine) String() string {
	tool, own := median(l.summaries, toolCPU), median(l.summaries, ownCPU)
	return fmt.Sprintf("| %.2f | %.2f | %.2f | %.2f | %.0f %% |\n", l.wall(), l.user(), l.sys(), median(l.summaries, coresBusy), 100*own/(own+tool))
}
