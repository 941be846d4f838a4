package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"muster/bench/timing"
)

// reuseGoal is the limit for a check with --reuse of 15,000 sources of 67 KB where nothing changed, in seconds.
const reuseGoal = 1.5

// reuse prints what a check takes where nothing changed, with --reuse and without, in turns.
func (m *measured) reuse(ctx context.Context) error {
	var rows []row
	for _, s := range m.subjects {
		check := func(isFirst bool, words ...string) func(context.Context) (timing.Sample, error) {
			return func(ctx context.Context) (timing.Sample, error) {
				sample, sum, err := s.checkOnce(ctx, strconv.Itoa(s.jobs), append(words, "--cost-cases", "0")...)
				if err == nil && !isFirst && len(words) > 0 && sum.Reused == 0 {
					err = errors.New("check --reuse reused nothing")
				}
				return sample, err
			}
		}
		if _, err := check(true, "--reuse")(ctx); err != nil { // it leaves outcomes for the others
			return err
		}
		rows = append(rows, row{name: s.called("muster check"), run: check(false)}, row{name: "**" + s.called("muster check --reuse") + "**", run: check(false, "--reuse")})
	}
	for round := range m.rounds {
		for _, i := range order(round, len(rows)) {
			s, err := rows[i].run(ctx)
			if err != nil {
				return err
			}
			rows[i].samples = append(rows[i].samples, s)
		}
	}
	fmt.Fprintf(m.out, "\n## check --reuse, %s, %s: %d cases, %d at once\n\nNothing changed. Limit of --reuse with 1GB: %.1f s.\n\n", m.tool.name, m.spec.Name, m.spec.Cases, m.jobs, reuseGoal)
	fmt.Fprint(m.out, "| | wall s | least–most | user s | sys s |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		least, most := r.extremes()
		fmt.Fprintf(m.out, "| %s | %.2f | %.2f–%.2f | %.2f | %.2f |\n", r.name, r.wall(), least, most, r.user(), r.sys())
	}
	return nil
}
