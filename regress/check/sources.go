package check

import (
	"context"
	"slices"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
)

// refuseOtherCorpus refuses a corpus that has none of the golden's cases.
func refuseOtherCorpus(in *run.Inputs, base *golden.Store, o *regress.Options) error {
	for _, e := range in.Corpus.Cases() {
		if _, known := base.OutcomeDigest(e.Name); known {
			return nil
		}
	}
	if base.Len() == 0 {
		return nil
	}
	return fault.Inputf("%s has none of the cases of %s: is this the right corpus? Name another one, or record a golden of this one", o.Corpus.Path, o.Store.Golden)
}

// compareSources finds the selected sources and the shared files that changed since the
// golden was recorded.
func compareSources(ctx context.Context, in *run.Inputs, base *golden.Store) (regress.Sources, error) {
	if err := in.ReadDigests(ctx); err != nil {
		return regress.Sources{}, err
	}
	was, err := base.Shared()
	if err != nil {
		return regress.Sources{}, err
	}
	changed, known := changedSources(in, base)
	found := regress.Sources{Known: known, Changed: len(changed), Names: name.First(changed, report.SourceNamesMax)}
	if was != nil {
		compareShared(&found, was, in.Digests.Shared())
	}
	return found, nil
}

// changedSources returns the selected cases whose source is not the recorded one, in corpus
// order. known counts the selected cases whose recorded source the golden has.
func changedSources(in *run.Inputs, base *golden.Store) (changed []string, known int) {
	for _, e := range in.Cases {
		was := base.Source(e.Name)
		if was == (outcome.Digest{}) {
			continue
		}
		known++
		if was != in.Digests.Case(e.Name) {
			changed = append(changed, e.Name)
		}
	}
	return changed, known
}

// compareShared counts the shared files that differ.
func compareShared(found *regress.Sources, was, is map[string]outcome.Digest) {
	var names []string
	for n, digest := range was {
		now, still := is[n]
		switch {
		case !still:
			found.SharedRemoved++
		case now != digest:
			found.SharedChanged++
		default:
			continue
		}
		names = append(names, n)
	}
	for n := range is {
		if _, then := was[n]; !then {
			found.SharedAdded++
			names = append(names, n)
		}
	}
	found.Shared = len(was) + found.SharedAdded
	slices.Sort(names)
	found.SharedNames = name.First(names, report.SourceNamesMax)
}
