package wholegolden

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Branches are the goldens of two branches, and the one that both come from.
type Branches struct{ Base, Ours, Theirs *golden.Store }

// BranchResult counts the cases of a merge of branches.
type BranchResult struct{ Cases, FromTheirs, Dropped int }

// MergeBranches writes a golden with the changes of both branches to path. It refuses a case, or a setting
// that changes outcomes, which the branches changed in different ways. The error is of class Input and
// names the conflicts.
//
// The tool, the sources and the shared files may differ in both branches, because git merges them. For
// each, the golden takes the side that changed it, or ours if both did. The next check reports what
// differs from the files.
func MergeBranches(ctx context.Context, path string, b Branches) (done BranchResult, err error) {
	meta, err := b.meta()
	if err != nil {
		return done, err
	}
	from, done, err := b.choose()
	if err != nil {
		return done, err
	}
	shared, err := b.shared()
	if err != nil {
		return done, err
	}
	accepts := acceptsIn(meta.Accepts, b.Theirs.Meta().Accepts)
	w, err := golden.Create(path, meta)
	if err != nil {
		return done, err
	}
	for _, caseName := range slices.Sorted(maps.Keys(from)) {
		if err = b.put(ctx, w, caseName, from[caseName], accepts); err != nil {
			break
		}
	}
	if err == nil && shared != nil {
		err = w.PutShared(shared)
	}
	if err != nil {
		return done, errors.Join(err, w.Abort(false))
	}
	return done, w.Finish()
}

// settle returns the value that a branch changed. If both changed it in different ways, it returns ours
// and reports a conflict.
func settle[T any](base, ours, theirs T) (settled T, isConflict bool) {
	switch {
	case reflect.DeepEqual(ours, theirs), reflect.DeepEqual(base, theirs):
		return ours, false
	case reflect.DeepEqual(base, ours):
		return theirs, false
	}
	return ours, true
}

// entry is what a golden has of a case. Costs do not count.
type entry struct {
	digest   outcome.Digest
	accepted int64 // of a flaky case, whose digest leaves out what varies: when it was accepted
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

// choose finds the golden to take each case from. Of a case that both branches have changed alike, or
// neither, it is ours.
func (b Branches) choose() (from map[string]*golden.Store, done BranchResult, err error) {
	from = map[string]*golden.Store{}
	names := map[string]bool{}
	for _, s := range []*golden.Store{b.Base, b.Ours, b.Theirs} {
		for n := range s.Names() {
			names[n] = true
		}
	}
	var conflicts []string
	for _, n := range slices.Sorted(maps.Keys(names)) {
		base, ours, theirs := entryOf(b.Base, n), entryOf(b.Ours, n), entryOf(b.Theirs, n)
		taken, isConflict := settle(base, ours, theirs)
		switch {
		case isConflict && (ours == nil || theirs == nil || ours.digest != theirs.digest):
			conflicts = append(conflicts, name.Print(n)+conflictWords(ours, theirs))
		case taken == nil:
			done.Dropped++
		case taken == theirs:
			from[n], done.FromTheirs = b.Theirs, done.FromTheirs+1
		default:
			from[n] = b.Ours
		}
	}
	done.Cases = len(from)
	return from, done, refuseBranches(conflicts, "case")
}

// conflictWords says how the branches disagree, unless both have an outcome.
func conflictWords(ours, theirs *entry) string {
	switch {
	case ours == nil:
		return " (dropped in ours)"
	case theirs == nil:
		return " (dropped in theirs)"
	}
	return ""
}

// refuseBranches returns the error for conflicts, or nil without any.
func refuseBranches(conflicts []string, noun string) error {
	if len(conflicts) == 0 {
		return nil
	}
	return fault.Inputf("both branches changed %s in different ways: %s. Keep one golden (git checkout --ours FILE, or --theirs), run muster check, and accept what the other branch had accepted",
		readable.Count(len(conflicts), noun), joinFirst(conflicts, ", "))
}

// put copies a record. accepts has the new indexes of the accepts of the other branch.
func (b Branches) put(ctx context.Context, w *golden.Writer, caseName string, from *golden.Store, accepts []int) error {
	r, _, err := from.Get(caseName)
	if err != nil {
		return err
	}
	if from == b.Theirs && r.Origin > 0 {
		r.Origin = accepts[r.Origin-1] + 1
	}
	if from == b.Ours { // their branch may have accepted the same outcome of another source
		r.Source, _ = settle(b.Base.Source(caseName), r.Source, b.Theirs.Source(caseName))
	}
	return w.Put(ctx, r, from.Content)
}

// acceptsIn returns the index of each accept of list in all.
func acceptsIn(all, list []golden.Accept) (at []int) {
	for _, a := range list {
		at = append(at, slices.IndexFunc(all, func(other golden.Accept) bool { return isSameAccept(a, other) }))
	}
	return at
}

// isSameAccept recognises an accept in another golden. An accept has no ID, but its time is exact.
func isSameAccept(a, b golden.Accept) bool {
	return a.Run == b.Run && a.At.Equal(b.At) && a.Author == b.Author && a.Reason == b.Reason
}

// meta returns the meta of the merged golden.
func (b Branches) meta() (golden.Meta, error) {
	base, m, theirs := b.Base.Meta(), b.Ours.Meta(), b.Theirs.Meta()
	var conflicts []string
	note := func(what string, isConflict bool) {
		if isConflict && !slices.Contains(conflicts, what) { // the flags have --env too
			conflicts = append(conflicts, what)
		}
	}
	var differ bool
	m.Command, differ = settle(base.Command, m.Command, theirs.Command)
	note("the command", differ)
	m.Env, differ = settle(base.Env, m.Env, theirs.Env)
	note("--env", differ)
	m.Selection, differ = settle(base.Selection, m.Selection, theirs.Selection)
	note("the selection", differ)
	m.Flags = maps.Clone(m.Flags)
	for _, key := range slices.Sorted(maps.Keys(union(base.Flags, m.Flags, theirs.Flags))) {
		value, differ := settle(flag(base.Flags, key), flag(m.Flags, key), flag(theirs.Flags, key))
		note(name.Print(key), differ)
		if delete(m.Flags, key); len(value) > 0 {
			m.Flags = union(m.Flags, map[string]string{key: value[0]})
		}
	}
	if err := refuseBranches(conflicts, "setting"); err != nil {
		return m, err
	}
	m.Executable, _ = settle(base.Executable, m.Executable, theirs.Executable)
	m.ExecutableDigest, _ = settle(base.ExecutableDigest, m.ExecutableDigest, theirs.ExecutableDigest)
	m.Preflight, _ = settle(base.Preflight, m.Preflight, theirs.Preflight)
	m.Tool = settleTool(base.Tool, m.Tool, theirs.Tool)
	m.Corpus, _ = settle(base.Corpus, m.Corpus, theirs.Corpus)
	m.CorpusPath, _ = settle(base.CorpusPath, m.CorpusPath, theirs.CorpusPath)
	m.Reference, _ = settle(base.Reference, m.Reference, theirs.Reference)
	for _, a := range theirs.Accepts {
		if !slices.ContainsFunc(m.Accepts, func(other golden.Accept) bool { return isSameAccept(a, other) }) {
			m.Accepts = append(slices.Clip(m.Accepts), a)
		}
	}
	if theirs.Created.After(m.Created) {
		m.Created = theirs.Created
	}
	m.Repeat = min(m.Repeat, theirs.Repeat)
	m.FromEngine = m.FromEngine || theirs.FromEngine
	m.TimesVary = m.TimesVary || theirs.TimesVary
	if m.Limits != theirs.Limits {
		m.Limits = ""
	}
	m.Machine, m.MusterVersion = distinct([]string{m.Machine, theirs.Machine}), distinct([]string{m.MusterVersion, theirs.MusterVersion})
	m.Run, m.AcceptedRun, m.AcceptBase = "", "", outcome.Digest{}
	return m, nil
}

// settleTool settles each file of the tool. If both branches changed one, it is ours.
func settleTool(base, ours, theirs []golden.ToolFile) (settled []golden.ToolFile) {
	byPath := func(list []golden.ToolFile) map[string]golden.ToolFile {
		files := map[string]golden.ToolFile{}
		for _, f := range list {
			files[f.Path] = f
		}
		return files
	}
	was, is, other := byPath(base), byPath(ours), byPath(theirs)
	for _, path := range slices.Sorted(maps.Keys(union(is, other))) {
		if f, _ := settle(was[path], is[path], other[path]); f.Path != "" {
			settled = append(settled, f)
		}
	}
	return settled
}

// flag returns the value of a flag, or nothing.
func flag(flags map[string]string, key string) []string {
	if value, has := flags[key]; has {
		return []string{value}
	}
	return nil
}

// union returns the entries of all maps. The last one counts.
func union[V any](list ...map[string]V) map[string]V {
	all := map[string]V{}
	for _, m := range list {
		maps.Copy(all, m)
	}
	return all
}

// shared returns the digests of the files that all cases share, or nil if neither branch has them.
func (b Branches) shared() (map[string]outcome.Digest, error) {
	base, err := b.Base.Shared()
	if err != nil {
		return nil, err
	}
	ours, err := b.Ours.Shared()
	if err != nil {
		return nil, err
	}
	theirs, err := b.Theirs.Shared()
	if err != nil {
		return nil, err
	}
	settled, isConflict := settle(base, ours, theirs)
	if !isConflict {
		return settled, nil
	}
	all := map[string]outcome.Digest{}
	for n := range union(ours, theirs) {
		if d, _ := settle(base[n], ours[n], theirs[n]); isKnown(d) {
			all[n] = d
		}
	}
	return all, nil
}
