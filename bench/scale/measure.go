package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"muster/bench/timing"
)

// kind names the runs of a row.
type kind struct {
	Command string
	Lanes   bool
	Cores   int // of muster; two are shared with the engine
	Repeat  int // runs of each case in a large run; 0 in the runs of the model
}

// measured is all runs, as -runs keeps them.
type measured struct {
	Runs  []sample
	Parts []partsOf
	tools string
}

type sample struct {
	Kind kind
	Ran  ran
}

type partsOf struct {
	Kind    kind
	PerCase []time.Duration // of limitedParts
}

var commands = []string{"record", "check"}

func (b *bench) measure(ctx context.Context) (*measured, error) {
	m, err := readRuns(b.runs)
	if err != nil {
		return nil, err
	}
	m.tools = b.describe(ctx)
	if b.only != "model" {
		err = b.large(ctx, m)
	}
	if err == nil && (b.only == "" || b.only == "model") {
		err = b.model(ctx, m)
	}
	return m, err
}

// errRows ends a benchmark that made as many rows as -rows allows.
var errRows = errors.New("this was the last of -rows: run it again to go on")

// row makes a row, unless -runs has it already, and keeps it.
func (b *bench) row(m *measured, has bool, do func() error) error {
	switch {
	case has:
		return nil
	case b.rows == 0:
		return errRows
	}
	b.rows--
	return errors.Join(do(), m.write(b.runs))
}

// large runs both commands over all cases.
func (b *bench) large(ctx context.Context, m *measured) error {
	s, err := b.newSet("large", b.cases)
	if err != nil {
		return err
	}
	for round := range b.rounds {
		for _, command := range commands {
			if b.only != "" && b.only != command {
				continue
			}
			if err := b.add(ctx, m, s, kind{command, false, 2, b.repeat}, round); err != nil {
				return err
			}
		}
	}
	return b.remove(s)
}

// model runs both commands over few cases, on an engine and in lanes, on one core and on two, and
// finds the shares of their parts.
func (b *bench) model(ctx context.Context, m *measured) error {
	for _, lanes := range []bool{false, true} {
		name, cases := "part", b.part
		if lanes {
			name, cases = "lanes", max(1, b.part/lanesPart)
		}
		s, err := b.newSet(name, cases)
		if err != nil {
			return err
		}
		for round := range b.rounds {
			for _, cores := range []int{2, 1} {
				for _, command := range commands {
					if err := b.add(ctx, m, s, kind{command, lanes, cores, 0}, round); err != nil {
						return err
					}
				}
			}
		}
		for _, command := range commands {
			if err := b.addParts(ctx, m, s, kind{command, lanes, 0, 0}); err != nil {
				return err
			}
		}
		if err := b.remove(s); err != nil {
			return err
		}
	}
	return nil
}

// remove makes room.
func (b *bench) remove(s set) error {
	if b.keep != "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// lanesPart is how many cases an engine gets for one that lanes get, which start a process for each.
const lanesPart = 10

func (b *bench) add(ctx context.Context, m *measured, s set, k kind, round int) error {
	return b.row(m, len(m.of(k)) > round, func() error {
		r, err := b.run(ctx, s, k)
		if err == nil {
			m.Runs = append(m.Runs, sample{k, r})
		}
		return err
	})
}

func (b *bench) addParts(ctx context.Context, m *measured, s set, k kind) error {
	has := slices.ContainsFunc(m.Parts, func(p partsOf) bool { return p.Kind == k })
	return b.row(m, has, func() error {
		parts, err := b.parts(ctx, s, k.Command, k.Lanes)
		if err == nil {
			m.Parts = append(m.Parts, partsOf{k, parts})
		}
		return err
	})
}

// readRuns reads what an earlier benchmark measured, if there is a file.
func readRuns(path string) (*measured, error) {
	m := new(measured)
	if path == "" {
		return m, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	return m, err
}

func (m *measured) write(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	return err
}

// of returns the runs of a kind.
func (m *measured) of(k kind) (list []ran) {
	for _, s := range m.Runs {
		if s.Kind == k {
			list = append(list, s.Ran)
		}
	}
	return list
}

// median returns the median of a figure of the runs of a kind.
func median[T int64 | float64 | time.Duration](runs []ran, figure func(ran) T) T {
	values := make([]T, len(runs))
	for i, r := range runs {
		values[i] = figure(r)
	}
	return timing.Median(values)
}

// each returns a cost of one case.
func each(d time.Duration, cases int) time.Duration { return d / time.Duration(max(cases, 1)) }

// costsOf returns the costs of a command on two cores, without those of the engine.
func (m *measured) costsOf(command string, lanes bool) (c costs) {
	c.cpu = median(m.of(kind{command, lanes, 2, 0}), func(r ran) time.Duration { return each(r.CPU(), r.Cases) })
	for i := range limitedParts {
		var values []time.Duration
		for _, p := range m.Parts {
			if p.Kind.Command == command && p.Kind.Lanes == lanes {
				values = append(values, p.PerCase[i])
			}
		}
		c.parts = append(c.parts, timing.Median(values))
	}
	return c
}
