package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/plan"
	"muster/regress/internal/report"
)

// absentShown bounds the partitions that an error names.
const absentShown = 5

// requireWhole refuses a part that --fail-fast stopped, and a set of partitions with a gap. A merged run could not report that such cases did not run.
func requireWhole(parts []*pastrun.Past, base *golden.Store) error {
	for _, p := range parts {
		kept, err := pastrun.SummaryOf(p)
		if err != nil {
			return err
		}
		if kept.NotRun > 0 {
			return fault.Inputf("run %s stopped with %s not run, so it is not a whole part: check again without --fail-fast", p.Run.ID, readable.Cases(kept.NotRun))
		}
	}
	have, of := map[uint64]bool{}, uint64(0)
	for _, p := range parts {
		k, n, ok := partitionOf(p)
		if !ok || of != 0 && n != of {
			return nil // what these select together is unknown
		}
		have[k], of = true, n
	}
	absent, err := absentOf(have, of, job.PlanSelection(&parts[0].Options.Select), base)
	if err == nil && len(absent) > 0 {
		are := "are"
		if len(have) == 1 {
			are = "is"
		}
		err = fault.Inputf("%d of %d partitions %s there: name the runs of the others, too, such as %s", len(have), of, are, strings.Join(absent, ", "))
	}
	return err
}

// absentOf returns the first partitions that no part checked and that have cases of the
// golden. A check of a partition without cases leaves no run.
func absentOf(have map[uint64]bool, of uint64, selection plan.Selection, base *golden.Store) (absent []string, err error) {
	for k := uint64(1); k <= of && len(absent) < absentShown; k++ {
		if have[k] {
			continue
		}
		selection.Partition = fmt.Sprintf("hash:%d/%d", k, of)
		chooser, err := selection.Compile()
		if err != nil {
			return nil, fault.Inputf("the selection of the runs cannot be used: %w: check again", err)
		}
		for caseName := range base.Names() {
			if chooser.Wants(caseName) {
				absent = append(absent, selection.Partition)
				break
			}
		}
	}
	return absent, nil
}

// partitionOf returns the number k of the partition that a run checked, and the number n of all.
func partitionOf(p *pastrun.Past) (k, n uint64, ok bool) {
	scanned, err := fmt.Sscanf(p.Options.Select.Partition, "hash:%d/%d", &k, &n)
	return k, n, err == nil && scanned == 2
}

// addRemarks adds to a summary the remarks of the parts on the tool, the sources and the settings.
func addRemarks(s *regress.Summary, parts []*pastrun.Past) error {
	for _, p := range parts {
		kept, err := pastrun.SummaryOf(p)
		if err != nil {
			return err
		}
		s.ToolChanged, s.Settings = union(s.ToolChanged, kept.ToolChanged), union(s.Settings, kept.Settings)
		s.Selection, s.NotSampled = cmp.Or(s.Selection, kept.Selection), max(s.NotSampled, kept.NotSampled)
		s.Sources = joinSources(s.Sources, kept.Sources)
	}
	return nil
}

// union returns the elements of both lists, in their order, each once.
func union(a, b []string) []string {
	list := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

// joinSources adds up the counts of sources of two parts.
func joinSources(a, b regress.Sources) regress.Sources {
	names := slices.Concat(a.Names, b.Names)
	known, changed := a.Known+b.Known, a.Changed+b.Changed
	if a.Shared == 0 {
		a = b // all parts have the same shared files: those of the corpus
	}
	a.Known, a.Changed, a.Names = known, changed, name.First(names, report.SourceNamesMax)
	return a
}
