package wholegolden

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// Two branches that change other cases merge into the golden that has all changes. If both change a case,
// they merge only if the change is the same.
func TestMergeBranches(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, b := t.TempDir(), bag{}
		text := rapid.SampledFrom([]string{"", "one", "two", "three"}) // "" = the golden lacks the case
		sides := map[string][]golden.Record{}
		var conflicts, theirs, twice int
		for i := range rapid.IntRange(0, 6).Draw(rt, "cases") {
			name := fmt.Sprint("case", i)
			base, ours, other := text.Draw(rt, "base"), text.Draw(rt, "ours"), text.Draw(rt, "theirs")
			merged := ours
			if ours != "" && other != "" {
				twice++
			}
			switch {
			case ours == other || other == base:
			case ours == base:
				merged = other
				if other != "" {
					theirs++
				}
			default:
				conflicts++
			}
			for side, out := range map[string]string{"base": base, "ours": ours, "theirs": other, "merged": merged} {
				if out != "" {
					sides[side] = append(sides[side], b.simple(name, out))
				}
			}
		}
		opened := map[string]*golden.Store{}
		for _, side := range []string{"base", "ours", "theirs", "merged"} {
			path := filepath.Join(dir, side)
			build(t, path, golden.Meta{Flags: map[string]string{"--stdin": "true"}}, nil, b, sides[side]...)
			opened[side] = open(t, path)
		}
		into := filepath.Join(dir, "into")
		done, err := Merge(t.Context(), into, opened["base"], []Shard{{"ours", opened["ours"]}, {"theirs", opened["theirs"]}})
		if conflicts > 0 {
			if regress.ClassOf(err) != regress.Input {
				rt.Fatalf("%d conflicts: %v", conflicts, err)
			}
			return
		}
		if want := (MergeResult{len(sides["merged"]), twice, theirs}); err != nil || done != want {
			rt.Fatalf("%+v, not %+v: %v", done, want, err)
		}
		if got, want := exported(t, into), exported(t, filepath.Join(dir, "merged")); !maps.Equal(got, want) {
			rt.Errorf("the merged golden has\n%v, not\n%v", got, want)
		}
	})
}

// The merged golden has the accepts of both branches once, and each case still names its own.
func TestMergeBranchesAccepts(t *testing.T) {
	dir, b := t.TempDir(), bag{}
	from := func(run int, name, out string) golden.Record {
		r := b.simple(name, out)
		r.Origin = run
		return r
	}
	varies := func(run int, text string) golden.Record { // the digest of its outcome leaves out the text
		r := from(run, "d", text)
		r.Outcome.Parts[0].Flaky, r.Outcome.Parts[0].Seen = true, outcome.ShapesOf(outcome.Filled)
		return r
	}
	common, ours, theirs := golden.Accept{Run: "common", At: time.Unix(1, 0)}, golden.Accept{Run: "ours", At: time.Unix(2, 0)}, golden.Accept{Run: "theirs", At: time.Unix(3, 0)}
	for side, s := range map[string]struct {
		accepts []golden.Accept
		records []golden.Record
	}{
		"base":   {[]golden.Accept{common}, []golden.Record{from(1, "a", "1"), b.simple("b", "1"), b.simple("c", "1"), varies(0, "1")}},
		"ours":   {[]golden.Accept{common, ours}, []golden.Record{from(1, "a", "1"), from(2, "b", "2"), b.simple("c", "1"), varies(0, "1")}},
		"theirs": {[]golden.Accept{common, theirs}, []golden.Record{from(1, "a", "1"), b.simple("b", "1"), from(2, "c", "3"), varies(2, "2")}},
	} {
		build(t, filepath.Join(dir, side), golden.Meta{Accepts: s.accepts}, nil, b, s.records...)
	}
	at := func(side string) *golden.Store { return open(t, filepath.Join(dir, side)) }
	into := filepath.Join(dir, "ours") // as git has it
	if _, err := Merge(t.Context(), into, at("base"), []Shard{{"ours", at("ours")}, {"theirs", at("theirs")}}); err != nil {
		t.Fatal(err)
	}
	s, got := open(t, into), map[string]string{}
	for n := range s.Names() {
		if origin := s.Origin(n); origin > 0 {
			got[n] = s.Meta().Accepts[origin-1].Run
		}
	}
	if want := map[string]string{"a": "common", "b": "ours", "c": "theirs", "d": "theirs"}; !maps.Equal(got, want) || len(s.Meta().Accepts) != 3 {
		t.Errorf("%v of %d accepts", got, len(s.Meta().Accepts))
	}
}

// A file of the tool that one branch changed is the changed one. Of a file that both changed, it is ours.
func TestSettleTool(t *testing.T) {
	list := func(digests ...byte) (files []golden.ToolFile) {
		for i, d := range digests {
			if d > 0 {
				files = append(files, golden.ToolFile{Path: fmt.Sprint(i), Role: golden.OpenedRole, Digest: outcome.Digest{d}})
			}
		}
		return files
	}
	m := &merger{base: &golden.Store{}, meta: golden.Meta{Tool: list(2, 1, 2, 0, 0)}}
	got := m.settleTool(Shard{}, list(1, 1, 1, 1, 0), list(1, 3, 3, 1, 3))
	if want := list(2, 3, 2, 0, 3); !slices.EqualFunc(got, want, func(a, b golden.ToolFile) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("%v, not %v", got, want)
	}
}
