package wholegolden

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
)

// mergeSelections returns the common selection of all shards. Equal selections stay as they are. A
// complete set of partitions becomes the selection without a partition. Selections by globs alone
// become one with all globs.
func mergeSelections(shards []Shard) (golden.Selection, error) {
	all := shards[0].Meta().Selection
	if areEqual(shards, func(*golden.Selection) {}) {
		return all, nil
	}
	if areEqual(shards, func(s *golden.Selection) { s.Partition = "" }) {
		all.Partition = ""
		return all, checkPartitions(shards)
	}
	alone := all.Partition == "" && all.Sample == 0 && len(all.Filters) == 0
	if alone && areEqual(shards, func(s *golden.Selection) { s.Globs = nil }) {
		all.Globs = unionGlobs(shards)
		return all, nil
	}
	var texts []string
	for _, s := range shards {
		texts = append(texts, fmt.Sprintf("%s of %s", s.Name, selection(s.Meta().Selection)))
	}
	return all, fault.Inputf("these goldens have different selections: %s: record partitions of one selection", strings.Join(texts, "; "))
}

// areEqual reports whether all selections are equal once without has removed some fields.
func areEqual(shards []Shard, without func(*golden.Selection)) bool {
	first := shards[0].Meta().Selection
	without(&first)
	for _, s := range shards[1:] {
		other := s.Meta().Selection
		if without(&other); !reflect.DeepEqual(first, other) {
			return false
		}
	}
	return true
}

// checkPartitions returns an error that names the missing partitions, if any.
func checkPartitions(shards []Shard) error {
	have, parts := map[int]bool{}, 0
	for _, s := range shards {
		text := s.Meta().Selection.Partition
		if text == "" {
			return nil // it has all of them
		}
		var k, n int
		if _, err := fmt.Sscanf(text, "hash:%d/%d", &k, &n); err != nil || k < 1 || k > n {
			return fault.Inputf("%s has the unknown partition %q: use a newer muster", s.Name, text)
		}
		if parts != 0 && n != parts {
			return fault.Inputf("%s is one of %d partitions, and %s one of %d: record all with the same number", shards[0].Name, parts, s.Name, n)
		}
		parts = n
		have[k] = true
	}
	var missing []string
	for k := 1; k <= parts && len(missing) < conflictsMax; k++ {
		if !have[k] {
			missing = append(missing, fmt.Sprintf("hash:%d/%d", k, parts))
		}
	}
	if len(missing) > 0 {
		return fault.Inputf("%d of %d partitions are given: add the goldens of the others, such as %s", len(have), parts, strings.Join(missing, ", "))
	}
	return nil
}

// unionGlobs returns the globs of all shards, or nil if one shard selects everything.
func unionGlobs(shards []Shard) []string {
	var all []string
	for _, s := range shards {
		globs := s.Meta().Selection.Globs
		if len(globs) == 0 {
			return nil
		}
		all = append(all, globs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
