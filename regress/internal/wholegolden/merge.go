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
	Name string // for errors
	*golden.Store
}

// MergeResult describes the golden that a merge wrote.
type MergeResult struct {
	Cases int
	Twice int // cases that several shards have
	Taken int // cases that are not those of the first shard
}

// conflictsMax bounds the conflicts that an error names.
const conflictsMax = 10

// Merge writes a golden with the cases of all shards to path. The error for conflicts is of class Input and
// names them.
//
// Without a base, shards are goldens of one record in partitions. Merge refuses shards with other
// settings, a case with different outcomes, and an incomplete set of partitions.
//
// With a base, two shards are the goldens of two branches that come from it. The merged golden has the changes
// of both. Merge refuses a case, or a setting that changes outcomes, which the branches changed in different
// ways. The tool, the sources and the shared files may differ, because git merges them. For each, the
// golden takes the side that changed it, or the first if both did. The next check reports files that differ
// from those in the golden.
func Merge(ctx context.Context, path string, base *golden.Store, shards []Shard) (done MergeResult, err error) {
	m := &merger{base: base, shards: shards, from: map[string]int{}, accepts: make([][]int, len(shards))}
	if err := m.mergeMetas(); err != nil {
		return done, err
	}
	shared, err := m.mergeShared()
	if err != nil {
		return done, err
	}
	if err := m.chooseCases(&done); err != nil {
		return done, err
	}
	w, err := golden.Create(path, m.meta)
	if err != nil {
		return done, err
	}
	if err = m.copyTo(ctx, w); err == nil && shared != nil {
		err = w.PutShared(shared)
	}
	if err != nil {
		return done, errors.Join(err, w.Abort(false))
	}
	return done, w.Finish()
}

// merger is a merge under way.
type merger struct {
	base    *golden.Store // nil for partitions
	shards  []Shard
	meta    golden.Meta
	from    map[string]int // the shard of each case
	accepts [][]int        // for each shard, the indexes of its accepts in meta

	conflicts []string
}

// settle returns the value that a shard changed. If both changed it differently, or differ without a base, it
// returns ours and reports a conflict.
func settle[T any](base *T, ours, theirs T) (settled T, isConflict bool) {
	switch {
	case reflect.DeepEqual(ours, theirs), base != nil && reflect.DeepEqual(*base, theirs):
		return ours, false
	case base != nil && reflect.DeepEqual(*base, ours):
		return theirs, false
	}
	return ours, true
}

// note adds a conflict. The error for two branches leaves out the details.
func (m *merger) note(what, details string) {
	if m.base == nil {
		what += " " + details
	}
	m.conflicts = append(m.conflicts, what)
}

// refuse returns the error for the conflicts so far, or nil without any.
func (m *merger) refuse(noun, mend string) error {
	if len(m.conflicts) == 0 {
		return nil
	}
	count := readable.Count(len(m.conflicts), noun)
	if m.base != nil {
		return fault.Inputf("both branches changed %s in different ways: %s. Keep one golden (git checkout --ours FILE, or --theirs), run muster check, and accept what the other branch had accepted", count, joinFirst(m.conflicts, ", "))
	}
	return fault.Inputf("the goldens do not agree on %s: %s: %s", count, joinFirst(m.conflicts, "; "), mend)
}

// joinFirst joins the first conflicts, and counts the others.
func joinFirst(conflicts []string, separator string) string {
	named := conflicts[:min(len(conflicts), conflictsMax)]
	if more := len(conflicts) - len(named); more > 0 {
		named = append(slices.Clip(named), fmt.Sprintf("and %s more", readable.Number(more)))
	}
	return strings.Join(named, separator)
}

// entry is what a golden has of a case. Costs do not count.
type entry struct {
	digest   outcome.Digest
	accepted int64 // when a flaky case was accepted; its digest leaves out what varies
}

// entryOf returns nil if the golden does not have the case.
func entryOf(s *golden.Store, caseName string) *entry {
	d, has := s.OutcomeDigest(caseName)
	if !has {
		return nil
	}
	e := &entry{digest: d}
	if origin := s.Origin(caseName); origin > 0 && s.Flaky(caseName) {
		e.accepted = s.Meta().Accepts[origin-1].At.UnixNano()
	}
	return e
}

// chooseCases finds the shard of each case. It reads only the indexes in memory.
func (m *merger) chooseCases(done *MergeResult) error {
	names := map[string]bool{}
	for _, s := range m.shards {
		for n := range s.Names() {
			names[n] = true
		}
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		var base, settled *entry
		if m.base != nil {
			base = entryOf(m.base, n)
		}
		from, have := 0, 0
		for i, s := range m.shards {
			e := entryOf(s.Store, n)
			if e != nil {
				have++
			}
			if i == 0 {
				settled = e
				continue
			}
			taken, isConflict := settle(&base, settled, e) // of partitions, none had a case before
			switch {
			case isConflict && settled == nil:
				m.note(name.Print(n)+" (dropped in "+m.shards[from].Name+")", "")
			case isConflict && e == nil:
				m.note(name.Print(n)+" (dropped in "+s.Name+")", "")
			case isConflict && settled.digest != e.digest:
				m.note(name.Print(n), fmt.Sprintf("has another outcome in %s than in %s", m.shards[from].Name, s.Name))
			case taken != settled:
				settled, from = e, i
			}
		}
		if settled != nil {
			m.from[n] = from
			done.Cases, done.Twice, done.Taken = done.Cases+1, done.Twice+min(1, have-1), done.Taken+min(1, from)
		}
	}
	return m.refuse("case", "leave one of the goldens out, or record those cases again")
}

// copyTo copies the records.
func (m *merger) copyTo(ctx context.Context, w *golden.Writer) error {
	for _, n := range slices.Sorted(maps.Keys(m.from)) {
		i := m.from[n]
		r, _, err := m.shards[i].Get(n)
		if err != nil {
			return err
		}
		if r.Origin > 0 {
			r.Origin = m.accepts[i][r.Origin-1] + 1
		}
		if m.base != nil && i == 0 { // their branch may have accepted the same outcome of another source
			base := m.base.Source(n)
			r.Source, _ = settle(&base, r.Source, m.shards[1].Source(n))
		}
		if err := w.Put(ctx, r, m.shards[i].Content); err != nil {
			return err
		}
	}
	return nil
}

// mergeAccepts adds the accepts of a shard to those of the merged golden. An accept has no ID: two with the
// same run, time, author and reason are one.
func (m *merger) mergeAccepts(i int) {
	for _, a := range m.shards[i].Meta().Accepts {
		at := slices.IndexFunc(m.meta.Accepts, func(b golden.Accept) bool {
			return a.Run == b.Run && a.At.Equal(b.At) && a.Author == b.Author && a.Reason == b.Reason
		})
		if at < 0 {
			at, m.meta.Accepts = len(m.meta.Accepts), append(m.meta.Accepts, a)
		}
		m.accepts[i] = append(m.accepts[i], at)
	}
}

// mergeMetas settles the settings of all shards.
func (m *merger) mergeMetas() error {
	m.meta = m.shards[0].Meta()
	m.meta.Accepts, m.meta.Flags = nil, maps.Clone(m.meta.Flags)
	m.mergeAccepts(0)
	machines, versions := []string{m.meta.Machine}, []string{m.meta.MusterVersion}
	for i, s := range m.shards[1:] {
		other := s.Meta()
		m.mergeAccepts(i + 1)
		m.settleSettings(s)
		if other.Created.After(m.meta.Created) {
			m.meta.Created = other.Created
		}
		m.meta.Repeat = min(m.meta.Repeat, other.Repeat)
		m.meta.FromEngine = m.meta.FromEngine || other.FromEngine
		m.meta.TimesVary = m.meta.TimesVary || other.TimesVary
		if m.meta.Limits != other.Limits {
			m.meta.Limits = ""
		}
		machines, versions = append(machines, other.Machine), append(versions, other.MusterVersion)
	}
	if err := m.refuse("setting", "merge goldens of one record in several partitions, and accept into them with --keep-command"); err != nil {
		return err
	}
	m.meta.Machine, m.meta.MusterVersion = distinct(machines), distinct(versions)
	m.meta.Run, m.meta.AcceptedRun, m.meta.AcceptBase = "", "", outcome.Digest{}
	if m.base != nil {
		return nil
	}
	var err error
	m.meta.Selection, err = mergeSelections(m.shards)
	return err
}

// settleSettings settles the settings of another shard.
func (m *merger) settleSettings(s Shard) {
	other, base := s.Meta(), golden.Meta{}
	settleField(m, s, "the command", func(g *golden.Meta) *[]golden.Command { return &g.Command })
	env := "--env"
	if m.meta.Flags[env] != other.Flags[env] {
		env = "" // the flags name it
	}
	settleField(m, s, env, func(g *golden.Meta) *[]string { return &g.Env })
	if m.base != nil {
		base = m.base.Meta()
		settleField(m, s, "the selection", func(g *golden.Meta) *golden.Selection { return &g.Selection })
	}
	m.meta.Flags = settleKeys(m, base.Flags, m.meta.Flags, other.Flags, func(key, here, there string) {
		m.noteValues(s, name.Print(key), here, there)
	})
	unlessMerged := func(what string) string { // by git
		if m.base != nil {
			return ""
		}
		return what
	}
	recorded := func(g golden.Meta) string {
		return showSetting(g.Recorder().Command) + " with " + showSetting(g.Recorder().ExecutableDigest)
	}
	if here, there := recorded(m.meta), recorded(other); here != there && (m.meta.Reference != nil || other.Reference != nil) {
		m.noteValues(s, unlessMerged("the command of the record"), here, there)
	}
	settleField(m, s, unlessMerged("the tool's SHA-256"), func(g *golden.Meta) *outcome.Digest { return &g.ExecutableDigest })
	settleField(m, s, unlessMerged("the corpus's SHA-256"), func(g *golden.Meta) *outcome.Digest { return &g.Corpus })
	settleField(m, s, unlessMerged("the engine's SHA-256"), func(g *golden.Meta) *outcome.Digest { return &g.Preflight })
	settleField(m, s, "", func(g *golden.Meta) *string { return &g.Executable })
	settleField(m, s, "", func(g *golden.Meta) *string { return &g.CorpusPath })
	if r := other.Reference; m.base != nil {
		settleField(m, s, "", func(g *golden.Meta) **golden.Recorder { return &g.Reference })
	} else if r != nil && (m.meta.Reference == nil || r.Moved.After(m.meta.Reference.Moved)) {
		m.meta.Reference = r
	}
	m.meta.Tool = m.settleTool(s, base.Tool, other.Tool)
}

// settleField settles a setting of another shard. what names it for a conflict; with "", the first shard counts.
func settleField[T any](m *merger, s Shard, what string, of func(*golden.Meta) *T) {
	ours, other := of(&m.meta), s.Meta()
	theirs, base := of(&other), (*T)(nil)
	if m.base != nil {
		b := m.base.Meta()
		base = of(&b)
	}
	settled, isConflict := settle(base, *ours, *theirs)
	if here, there := showSetting(*ours), showSetting(*theirs); isConflict && here != there { // an empty list may be nil
		m.noteValues(s, what, here, there)
	}
	*ours = settled
}

// settleKeys settles the value of each key. The zero value stands for none. It calls note for each conflict.
func settleKeys[V comparable](m *merger, base, ours, theirs map[string]V, note func(key string, ours, theirs V)) map[string]V {
	var none V
	keys, settled := maps.Clone(ours), map[string]V{}
	if keys == nil {
		keys = map[string]V{}
	}
	maps.Copy(keys, theirs)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		var was *V
		if m.base != nil {
			b := base[key]
			was = &b
		}
		value, isConflict := settle(was, ours[key], theirs[key])
		if isConflict {
			note(key, ours[key], theirs[key])
		}
		if value != none {
			settled[key] = value
		}
	}
	return settled
}

// noteValues adds a conflict in a setting, unless what is "".
func (m *merger) noteValues(s Shard, what, here, there string) {
	if what != "" {
		m.note(what, fmt.Sprintf("is %s in %s and %s in %s", cmp.Or(here, "none"), m.shards[0].Name, cmp.Or(there, "none"), s.Name))
	}
}

// showSetting returns a setting in printable form, "" for an empty one.
func showSetting(v any) string {
	switch v := v.(type) {
	case []golden.Command:
		var all []string
		for _, c := range v {
			all = append(all, name.Print(commandText(c)))
		}
		return strings.Join(all, "; ")
	case []string:
		return strings.Join(name.PrintAll(v), " ")
	case outcome.Digest:
		return digestText(v)
	}
	return fmt.Sprint(v)
}

// settleTool settles each file of the tool. Shards of other cases use other files, so without a base only a file
// with two contents is a conflict. A folder may have other names on another machine, be absent there, or only
// be asked for: the first shard counts.
func (m *merger) settleTool(s Shard, base, theirs []golden.ToolFile) (settled []golden.ToolFile) {
	byPath := func(list []golden.ToolFile) map[string]golden.ToolFile {
		files := map[string]golden.ToolFile{}
		for _, f := range list {
			files[f.Path] = f
		}
		return files
	}
	isKnown := func(f golden.ToolFile) bool { return f.Path != "" }
	ours, other := byPath(m.meta.Tool), byPath(theirs)
	all := settleKeys(m, byPath(base), ours, other, func(path string, here, there golden.ToolFile) {
		switch {
		case m.base != nil:
		case !isKnown(here):
			ours[path] = there
		case isKnown(there) && here.Role != golden.ListedRole && there.Role != golden.ListedRole && here.Digest != there.Digest:
			m.noteValues(s, "the SHA-256 of "+name.Print(path)+", a file of the tool,", digestText(here.Digest), digestText(there.Digest))
		}
	})
	if m.base == nil {
		all = ours
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		settled = append(settled, all[path])
	}
	return settled
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

// mergeShared returns the digests of the files that all cases share, or nil if no shard has them.
func (m *merger) mergeShared() (all map[string]outcome.Digest, err error) {
	var base map[string]outcome.Digest
	if m.base != nil {
		if base, err = m.base.Shared(); err != nil {
			return nil, err
		}
	}
	first := ""
	for _, s := range m.shards {
		files, err := s.Shared()
		switch {
		case err != nil:
			return nil, err
		case files == nil:
		case all == nil:
			all, first = files, s.Name
		default:
			all = settleKeys(m, base, all, files, func(file string, _, _ outcome.Digest) {
				if m.base == nil {
					m.note(name.Print(file), fmt.Sprintf("is another in %s than in %s", first, s.Name))
				}
			})
		}
	}
	return all, m.refuse("shared file", "record all partitions of one corpus")
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

// areEqual reports whether all selections are equal apart from the fields that without clears.
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
