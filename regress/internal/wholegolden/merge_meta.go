package wholegolden

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

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
				conflicts = append(conflicts, fmt.Sprintf("%s is %s in %s and %s in %s", key, orNone(here), shards[0].Name, orNone(there), s.Name))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(union(first, now))) {
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
		"the environment":      strings.Join(printedList(m.Env), " "),
	}
	if isMoved {
		all["the command of the record"] = recorderText(m)
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
// with two contents is a conflict.
func mergeTools(a, b []golden.ToolFile, conflict func(key, here, there string)) []golden.ToolFile {
	all := slices.Clone(a)
	for _, f := range b {
		i := slices.IndexFunc(a, func(of golden.ToolFile) bool { return of.Path == f.Path })
		if i < 0 {
			all = append(all, f)
			continue
		}
		conflict("the SHA-256 of "+name.Print(f.Path)+", a file of the tool,", a[i].Digest.String(), f.Digest.String())
	}
	slices.SortFunc(all, func(a, b golden.ToolFile) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// recorderText returns the command and the executable that recorded the golden.
func recorderText(m golden.Meta) string {
	r := m.Recorder()
	return fmt.Sprintf("%s with %s", commands(r.Command), digestText(r.ExecutableDigest))
}

func digestText(d outcome.Digest) string {
	if !isKnown(d) {
		return ""
	}
	return d.String()
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
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
