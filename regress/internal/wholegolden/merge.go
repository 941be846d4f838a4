package wholegolden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Shard is a golden to be merged with others.
type Shard struct {
	Name string // as given
	*golden.Store
}

// MergeResult describes the golden that a merge wrote.
type MergeResult struct {
	Cases     int
	Twice     int // cases that several shards have
	Selection golden.Selection
}

// conflictsMax bounds the conflicts that an error names.
const conflictsMax = 10

// Merge writes a golden with the cases of all shards to path. It refuses shards with other
// settings, a case with different outcomes, and an incomplete set of partitions. The error
// is of class Input and names the conflicts.
func Merge(ctx context.Context, path string, shards []Shard) (MergeResult, error) {
	meta, err := mergeMetas(shards)
	if err != nil {
		return MergeResult{}, err
	}
	shared, err := mergeShared(shards)
	if err != nil {
		return MergeResult{}, err
	}
	m := &merger{from: map[string]int{}, accepts: make([]int, len(shards))}
	if err := m.assign(shards); err != nil {
		return MergeResult{}, err
	}
	w, err := golden.Create(path, meta)
	if err != nil {
		return MergeResult{}, err
	}
	if err = m.copyTo(ctx, w, shards); err == nil && shared != nil {
		err = w.PutShared(shared)
	}
	if err != nil {
		return MergeResult{}, errors.Join(err, w.Abort(false))
	}
	return MergeResult{len(m.from), m.twice, meta.Selection}, w.Finish()
}

type merger struct {
	from    map[string]int // the shard of each case
	accepts []int          // for each shard, the number of accepts before its own in the merged golden
	twice   int
}

// assign finds the shard of each case. It reads only the indexes in memory.
func (m *merger) assign(shards []Shard) error {
	var conflicts []string
	accepts := 0
	for i, s := range shards {
		m.accepts[i] = accepts
		accepts += len(s.Meta().Accepts)
		for n := range s.Names() {
			first, known := m.from[n]
			if !known {
				m.from[n] = i
				continue
			}
			m.twice++
			if why := conflict(shards[first].Store, s.Store, n); why != "" {
				conflicts = append(conflicts, fmt.Sprintf("%s has another %s in %s than in %s", name.Print(n), why, shards[first].Name, s.Name))
			}
		}
	}
	return refuse(conflicts, "case", "leave one of the goldens out, or record those cases again")
}

// conflict returns the difference between two goldens' records of a case, or "".
func conflict(a, b *golden.Store, caseName string) string {
	was, _ := a.OutcomeDigest(caseName)
	is, _ := b.OutcomeDigest(caseName)
	if was != is {
		return "outcome"
	}
	if from, to := a.Source(caseName), b.Source(caseName); isKnown(from) && isKnown(to) && from != to {
		return "source"
	}
	return ""
}

func isKnown(d outcome.Digest) bool { return d != outcome.Digest{} }

// refuse returns the error for conflicts, or nil without any.
func refuse(conflicts []string, noun, mend string) error {
	if len(conflicts) == 0 {
		return nil
	}
	named := conflicts
	if more := len(conflicts) - conflictsMax; more > 0 {
		named = append(conflicts[:conflictsMax:conflictsMax], fmt.Sprintf("and %s more", readable.Number(more)))
	}
	return fault.Inputf("the goldens do not agree on %s: %s: %s", readable.Count(len(conflicts), noun), strings.Join(named, "; "), mend)
}

func (m *merger) copyTo(ctx context.Context, w *golden.Writer, shards []Shard) error {
	for i, s := range shards {
		for n := range s.Names() {
			if m.from[n] != i {
				continue
			}
			r, _, err := s.Get(n)
			if err != nil {
				return err
			}
			if r.Origin > 0 {
				r.Origin += m.accepts[i]
			}
			err = w.Put(ctx, r, func(p outcome.Part) (io.ReadCloser, error) { return s.Content(p) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// mergeShared returns the digests of the files that all cases share, or nil if no shard has
// them.
func mergeShared(shards []Shard) (map[string]outcome.Digest, error) {
	var all map[string]outcome.Digest
	var whose string
	for _, s := range shards {
		files, err := s.Shared()
		if err != nil {
			return nil, err
		}
		switch {
		case files == nil:
		case all == nil:
			all, whose = files, s.Name
		default:
			if err := refuseOtherShared(all, files, whose, s.Name); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
