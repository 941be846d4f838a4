package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"muster/bench/timing"
)

// report prints both kinds of rounds as a table in Markdown.
func report(w io.Writer, o options, same, more []result) {
	fmt.Fprintf(w, "%d rounds of %d cases; an interval that is above 1 as a whole is an alarm.\n\n", o.rounds, o.cases)
	fmt.Fprintln(w, "| | alarms | goal | ratio, least … median … greatest | interval reaches, median … greatest | pairs | a check takes |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	row(w, "the same program", fmt.Sprintf("at most %d", o.rounds/100), same)
	row(w, fmt.Sprintf("%.1f %% more work", float64(o.plus)/10), fmt.Sprintf("at least %d", (o.rounds*95+99)/100), more)
	below := 0
	for _, r := range same {
		if r.High < 1 {
			below++
		}
	}
	fmt.Fprintf(w, "\nThe same program was reported as faster in %d rounds.\n", below)
}

func row(w io.Writer, what, goal string, list []result) {
	alarms := 0
	var ratios, reaches []float64
	var pairs []int64
	var took []time.Duration
	for _, r := range list {
		if r.fired {
			alarms++
		}
		ratios, reaches = append(ratios, r.Ratio), append(reaches, r.High/r.Ratio-1)
		pairs, took = append(pairs, int64(r.Pairs)), append(took, r.took)
	}
	fmt.Fprintf(w, "| %s | %d | %s | %.3f … %.3f … %.3f | %.1f %% … %.1f %% | %d | %.1f s |\n", what, alarms, goal,
		slices.Min(ratios), timing.Median(ratios), slices.Max(ratios), 100*timing.Median(reaches), 100*slices.Max(reaches),
		timing.Median(pairs), timing.Median(took).Seconds())
}
