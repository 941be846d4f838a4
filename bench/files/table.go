package main

import (
	"fmt"
	"slices"
	"time"

	"muster/bench/timing"
)

// print prints a table for each operation, and how muster's default compares in each round.
func (b *bench) print(all []*samples) {
	fmt.Fprintf(b.out, "\n%s; %s; %d requests, %d rounds, muster with %d threads and --sync %s\n",
		time.Now().UTC().Format(time.DateOnly), b.load, b.requests, b.rounds, b.threads, b.sync)
	for _, operation := range b.operations {
		fmt.Fprintf(b.out, "\n### %s\n\n| | requests/s | p50 ms | p99 ms | p99.9 ms | CPU ms a request | threads at most | failed |\n|---|---|---|---|---|---|---|---|\n", operation)
		rows := named(all, operation)
		order := slices.DeleteFunc(slices.Clone(all), func(s *samples) bool { return s.operation != operation })
		for _, s := range order {
			fmt.Fprintf(b.out, "| %s | %.0f | %.1f | %.1f | %.1f | %.3g | %.0f | %.0f |\n", s.contestant,
				s.median(perSecond), s.median(p50), s.median(p99), s.median(p999), s.median(cpu), s.most(threads), s.most(failed))
		}
		b.ratios(rows)
		for _, s := range order {
			if with := rows[fmt.Sprintf("%s, %d silent clients", s.contestant, b.silent)]; with != nil {
				fmt.Fprintf(b.out, "\n%s ÷ without them: %.2f × the requests/s, %.2f × the p99\n", with.contestant, with.beside(s, perSecond), with.beside(s, p99))
			}
		}
	}
}

// ratios compares the engine that stands first with the others' programs.
func (b *bench) ratios(rows map[string]*samples) {
	ours := rows["muster "+b.engines[0]]
	for _, name := range others {
		other, ok := rows[name]
		if !ok {
			continue
		}
		fmt.Fprintf(b.out, "\n%s ÷ %s: %.2f × the requests/s, %.2f × the p99, %.2f × the CPU (medians of each round's ratio); p99 lower in %d rounds of %d\n",
			ours.contestant, name, ours.beside(other, perSecond), ours.beside(other, p99), ours.beside(other, cpu), ours.lower(other, p99), len(ours.rounds))
	}
}

func perSecond(r result) float64 { return r.PerSecond }
func p50(r result) float64       { return r.P50 }
func p99(r result) float64       { return r.P99 }
func p999(r result) float64      { return r.P999 }
func threads(r result) float64   { return float64(r.Threads) }
func cpu(r result) float64       { return r.CPU }
func memory(r result) float64    { return r.Memory }
func failed(r result) float64    { return float64(r.Failed) }

func (s *samples) values(figure func(result) float64) []float64 {
	values := make([]float64, len(s.rounds))
	for i, r := range s.rounds {
		values[i] = figure(r)
	}
	return values
}

func (s *samples) median(figure func(result) float64) float64 {
	return timing.Median(s.values(figure))
}

func (s *samples) most(figure func(result) float64) float64 {
	most := 0.0
	for _, v := range s.values(figure) {
		most = max(most, v)
	}
	return most
}

// lower counts the rounds in which a figure is lower.
func (s *samples) lower(other *samples, figure func(result) float64) (n int) {
	for i := range s.rounds {
		if figure(s.rounds[i]) < figure(other.rounds[i]) {
			n++
		}
	}
	return n
}

// beside is the median of the ratios within a round.
func (s *samples) beside(other *samples, figure func(result) float64) float64 {
	ratios := make([]float64, len(s.rounds))
	for i := range ratios {
		ratios[i] = figure(s.rounds[i]) / figure(other.rounds[i])
	}
	return timing.Median(ratios)
}
