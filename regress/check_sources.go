package regress

import (
	"context"
	"slices"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// refusedNamesMax bounds the names in the error of --same-corpus.
const refusedNamesMax = 3

// refuseOtherCorpus refuses a corpus that has none of the golden's cases.
func refuseOtherCorpus(s *session, base *golden.Store) error {
	for _, e := range s.in.Corpus.Cases() {
		if _, known := base.OutcomeDigest(e.Name); known {
			return nil
		}
	}
	if base.Len() == 0 {
		return nil
	}
	return fault.Inputf("%s has none of the cases of %s: is this the right corpus? Name another one, or record a golden of this one", s.o.Corpus.Path, s.o.Store.Golden)
}

// compareSources finds the selected sources and the shared files that changed since the
// golden was recorded. --same-corpus refuses them; otherwise the summary lists them.
func compareSources(ctx context.Context, s *session, base *golden.Store) error {
	if err := s.in.ReadDigests(ctx); err != nil {
		return err
	}
	was, err := base.Shared()
	if err != nil {
		return err
	}
	changed, known := changedSources(s, base)
	found := report.Sources{Known: known, Changed: len(changed), Names: name.First(changed, report.SourceNamesMax)}
	var others []string
	if was != nil {
		others = compareShared(&found, was, s.in.Digests.Shared())
	}
	s.ledger.Summary.Sources = found
	if s.o.Judge.SameCorpus {
		return refuseChanged(s, base.Meta(), slices.Concat(changed, others), countKnown(s, base) == known && was != nil)
	}
	return nil
}

// changedSources returns the selected cases whose source is not the recorded one, in corpus
// order. known counts the selected cases whose recorded source the golden has.
func changedSources(s *session, base *golden.Store) (changed []string, known int) {
	for _, e := range s.in.Cases {
		was := base.Source(e.Name)
		if was == (outcome.Digest{}) {
			continue
		}
		known++
		if was != s.in.Digests.Case(e.Name) {
			changed = append(changed, e.Name)
		}
	}
	return changed, known
}

// countKnown returns how many of the selected cases the golden has.
func countKnown(s *session, base *golden.Store) (n int) {
	for _, e := range s.in.Cases {
		if _, known := base.OutcomeDigest(e.Name); known {
			n++
		}
	}
	return n
}

// compareShared counts the shared files that differ, and returns their names, sorted.
func compareShared(found *report.Sources, was, is map[string]outcome.Digest) (names []string) {
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
	return names
}

// refuseChanged returns the error of --same-corpus, or nil. If the golden does not have
// every source digest, the digest of the whole corpus decides.
func refuseChanged(s *session, m golden.Meta, names []string, complete bool) error {
	const mend = "check the recorded corpus, record again, or leave out --same-corpus"
	switch {
	case len(names) > 0:
		are := "are not what"
		if len(names) == 1 {
			are = "is not what"
		}
		return fault.Inputf("--same-corpus: %s of %s %s %s was recorded with: %s: %s",
			readable.Count(len(names), "file"), s.o.Corpus.Path, are, s.o.Store.Golden, name.List(names, refusedNamesMax), mend)
	case !complete && s.in.Digests.Whole != m.Corpus:
		return fault.Inputf("--same-corpus: %s is not the corpus that %s was recorded with, and the golden lacks the digests that would show which files changed: %s",
			s.o.Corpus.Path, s.o.Store.Golden, mend)
	}
	return nil
}
