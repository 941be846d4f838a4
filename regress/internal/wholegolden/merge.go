package wholegolden

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
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
	Cases int
	Twice int // cases that several shards have
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
	return MergeResult{len(m.from), m.twice}, w.Finish()
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

// refuse returns the error for conflicts, or nil without any.
func refuse(conflicts []string, noun, mend string) error {
	if len(conflicts) == 0 {
		return nil
	}
	return fault.Inputf("the goldens do not agree on %s: %s: %s", readable.Count(len(conflicts), noun), joinFirst(conflicts, "; "), mend)
}

// joinFirst joins the first conflicts, and counts the others.
func joinFirst(conflicts []string, separator string) string {
	named := conflicts[:min(len(conflicts), conflictsMax)]
	if more := len(conflicts) - len(named); more > 0 {
		named = append(slices.Clip(named), fmt.Sprintf("and %s more", readable.Number(more)))
	}
	return strings.Join(named, separator)
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
			err = w.Put(ctx, r, s.Content)
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

// mergeMetas returns the meta of a merged golden. Settings that change outcomes must be equal
// in all shards.
func mergeMetas(shards []Shard) (golden.Meta, error) {
	m := shards[0].Meta()
	isMoved := slices.ContainsFunc(shards, func(s Shard) bool { return s.Meta().Reference != nil })
	first := settings(m, isMoved)
	machines, versions := []string{m.Machine}, []string{m.MusterVersion}
	var conflicts []string
	for _, s := range shards[1:] {
		other := s.Meta()
		now := settings(other, isMoved)
		conflict := func(key, here, there string) {
			if here != there {
				here, there = cmp.Or(here, "none"), cmp.Or(there, "none")
				conflicts = append(conflicts, fmt.Sprintf("%s is %s in %s and %s in %s", key, here, shards[0].Name, there, s.Name))
			}
		}
		keys := maps.Clone(first)
		maps.Copy(keys, now)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			conflict(key, first[key], now[key])
		}
		m.Tool = mergeTools(m.Tool, other.Tool, conflict)
		if r := other.Reference; r != nil && (m.Reference == nil || r.Moved.After(m.Reference.Moved)) {
			m.Reference = r
		}
		if other.Created.After(m.Created) {
			m.Created = other.Created
		}
		m.Repeat = min(m.Repeat, other.Repeat)
		m.FromEngine = m.FromEngine || other.FromEngine
		m.TimesVary = m.TimesVary || other.TimesVary
		if m.Limits != other.Limits {
			m.Limits = ""
		}
		m.Accepts = append(slices.Clip(m.Accepts), other.Accepts...)
		machines, versions = append(machines, other.Machine), append(versions, other.MusterVersion)
	}
	if err := refuse(conflicts, "setting", "merge goldens of one record in several partitions, and accept into them with --keep-command"); err != nil {
		return m, err
	}
	m.Machine, m.MusterVersion = distinct(machines), distinct(versions)
	m.Run, m.AcceptedRun, m.AcceptBase = "", "", outcome.Digest{}
	var err error
	m.Selection, err = mergeSelections(shards)
	return m, err
}

// settings returns the values that must be equal, by their names in errors: the settings that
// change outcomes. If an accept changed the command of any shard, the command of the record is
// among them.
func settings(m golden.Meta, isMoved bool) map[string]string {
	all := map[string]string{
		"the tool's SHA-256":   digestText(m.ExecutableDigest),
		"the corpus's SHA-256": digestText(m.Corpus),
		"the engine's SHA-256": digestText(m.Preflight),
		"the environment":      strings.Join(name.PrintAll(m.Env), " "),
	}
	if isMoved {
		r := m.Recorder()
		all["the command of the record"] = fmt.Sprintf("%s with %s", commands(r.Command), digestText(r.ExecutableDigest))
	}
	for _, c := range commands(m.Command) {
		what := "the command"
		if c.Glob != "" {
			what += " for " + c.Glob
		}
		all[what] = fmt.Sprintf("%q", c.Args)
	}
	for key, value := range m.Flags {
		all[name.Print(key)] = name.Print(value)
	}
	return all
}

// mergeTools returns the files of both tools. Shards of other cases use other files, so only a file
// with two contents is a conflict. A folder may have other names on another machine, be absent there, or only be
// asked for: the first shard counts.
func mergeTools(a, b []golden.ToolFile, conflict func(key, here, there string)) []golden.ToolFile {
	all, known := slices.Clone(a), map[string]golden.ToolFile{}
	for _, f := range a {
		known[f.Path] = f
	}
	for _, f := range b {
		switch other, isKnown := known[f.Path]; {
		case !isKnown:
			all = append(all, f)
		case f.Role != golden.ListedRole && other.Role != golden.ListedRole:
			conflict("the SHA-256 of "+name.Print(f.Path)+", a file of the tool,", digestText(other.Digest), digestText(f.Digest))
		}
	}
	slices.SortFunc(all, func(a, b golden.ToolFile) int { return strings.Compare(a.Path, b.Path) })
	return all
}

func digestText(d outcome.Digest) string {
	if !isKnown(d) {
		return ""
	}
	return d.String()
}

func distinct(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}

// refuseOtherShared refuses two shards whose shared files differ.
func refuseOtherShared(a, b map[string]outcome.Digest, nameA, nameB string) error {
	var conflicts []string
	for _, n := range slices.Sorted(maps.Keys(a)) {
		if b[n] != a[n] {
			conflicts = append(conflicts, fmt.Sprintf("%s is another in %s than in %s", name.Print(n), nameA, nameB))
		}
	}
	for _, n := range slices.Sorted(maps.Keys(b)) {
		if _, both := a[n]; !both {
			conflicts = append(conflicts, fmt.Sprintf("%s is only in %s", name.Print(n), nameB))
		}
	}
	return refuse(conflicts, "shared file", "record all partitions of one corpus")
}

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
