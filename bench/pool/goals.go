package main

import (
	"fmt"

	"muster/lab/stat"
)

// goal is a ratio that the pool should reach with 2 workers at GOMAXPROCS 2.
type goal struct {
	over, under key // over ÷ under, round by round
	least, most float64
	text        string
}

// goals returns the ratios among the goals of README.md, and one more that explains another.
func goals() []goal {
	one, batch := key{muster, "single"}, key{muster, "batch"}
	ants, tbb, channel := key{"ants", "single"}, key{"tbb-enqueue", "single"}, key{"channel", "single"}
	return []goal{
		{ants, one, 20, 0, "ants, one by one ÷ muster"},
		{tbb, one, 7, 0, "TBB's enqueue ÷ muster"},
		{channel, one, 1.5, 0, "a channel ÷ muster"},
		{ants, batch, 60, 0, "ants, one by one ÷ muster in batches"},
		{tbb, batch, 20, 0, "TBB's enqueue ÷ muster in batches"},
		{key{muster, "makespan"}, key{"channel", "makespan"}, 0, 1, "makespan ÷ a channel's"},
		{key{muster, "foreach"}, key{"tbb-parallel-for", "foreach"}, 0, 1.3, "ForEach ÷ TBB's parallel_for"},
		{key{muster, "foreach"}, key{"tbb-pointer", "foreach"}, 0, 1.3, "ForEach ÷ the same through a pointer, as Go calls a function value"},
		{key{muster, "producers"}, key{"channel", "producers"}, 0, 1, "eight producers ÷ a channel's"},
	}
}

func (c *contest) printGoals() {
	fmt.Fprintf(c.out, "\n## Goals\n\nMedians of the ratios of each round.\n\n| | goal | here | from–to |\n|---|---|---:|---:|\n")
	for _, g := range goals() {
		want := fmt.Sprintf("at least %g", g.least)
		if g.most > 0 {
			want = fmt.Sprintf("at most %g", g.most)
		}
		here, interval := "–", "–"
		if s := stat.Ratio(c.figures(g.over, "ns/op"), c.figures(g.under, "ns/op")); s.N > 0 {
			here, interval = fmt.Sprintf("%.2f", s.Median), fmt.Sprintf("%.2f–%.2f", s.Low, s.High)
		}
		fmt.Fprintf(c.out, "| %s | %s | %s | %s |\n", g.text, want, here, interval)
	}
}
