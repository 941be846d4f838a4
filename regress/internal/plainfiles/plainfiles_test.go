package plainfiles

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

var update = flag.Bool("update", false, "write testdata anew: only while format 2 is not released")

// bag holds contents by digest.
type bag map[outcome.Digest][]byte

func (b bag) part(place outcome.Place, path string, form outcome.Form, content string) outcome.Part {
	d := outcome.Of([]byte(content))
	b[d] = []byte(content)
	return outcome.Part{Key: outcome.Key{Place: place, Path: path}, Form: form, Size: int64(len(content)), Digest: d}
}

func (b bag) open(p outcome.Part) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b[p.Digest])), nil
}

// build makes a golden and returns its path.
func build(t testing.TB, m golden.Meta, b bag, records ...golden.Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g")
	w, err := golden.Create(path, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Put(context.Background(), r, b.open); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return path
}

// export exports the golden at path and returns the folder.
func export(t testing.TB, path string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "export")
	if err := exportTo(path, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func exportTo(path, dir string) error {
	s, err := golden.Open(path)
	if err != nil {
		return err
	}
	defer s.Close()
	return Export(context.Background(), s, dir)
}

// tree returns all files below dir.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, at))
		all[at] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameTree(t interface{ Errorf(string, ...any) }, got, want map[string]string) {
	for at := range maps.Keys(got) {
		if _, ok := want[at]; !ok {
			t.Errorf("%s should not be there", at)
		}
	}
	for at, content := range want {
		if g, ok := got[at]; !ok || g != content {
			t.Errorf("%s (there: %t)\n%s, want\n%s", at, ok, g, content)
		}
	}
}

const fixture = "testdata/export-v2"

// flaky returns a part that had the given shapes.
func flaky(p outcome.Part, seen ...outcome.Shape) outcome.Part {
	p.Flaky, p.Seen = true, outcome.ShapesOf(seen...)
	return p
}

// example has some of everything.
func example(b bag) []golden.Record {
	streams := func(name string, e regress.Ending, more ...outcome.Part) golden.Record {
		o := outcome.Outcome{Ending: e, Parts: append([]outcome.Part{
			b.part(outcome.Stdout, "", 0, "out of "+name+"\n"), b.part(outcome.Stderr, "", 0, ""),
		}, more...)}
		return golden.Record{Name: name, Outcome: o, Runs: 2, Cost: outcome.Cost{CPU: time.Second}}
	}
	exec := b.part(outcome.File, "bin/prog", 0, "\x7fELF")
	exec.Exec = true
	diary := flaky(b.part(outcome.File, "diary", 0, "at 12:34"), outcome.Absent, outcome.Filled, outcome.FilledExec, outcome.Link, outcome.Removed)
	ending := streams("flaky ending", regress.Ending{})
	ending.Outcome.Others = []regress.Ending{{Code: 1}}
	stopped := streams("flaky, once stopped", regress.Ending{Kind: regress.TimedOut})
	stopped.Outcome.Others = []regress.Ending{{Kind: regress.OutOfMemory}}
	gone := outcome.Part{Key: outcome.Key{Place: outcome.File, Path: "given"}, Form: outcome.Gone}
	endings := golden.Record{Name: "endings", Source: outcome.Of(nil), Origin: 1, Equal: 1, Outcome: outcome.Outcome{
		Ending: regress.Ending{Kind: regress.Signalled, Code: 9}, Others: []regress.Ending{{}, {Code: 2}, {Kind: regress.OutOfMemory}},
		Parts: []outcome.Part{
			flaky(b.part(outcome.Stdout, "", 0, "flaky"), outcome.Empty, outcome.Filled), b.part(outcome.Stderr, "", 0, ""),
			flaky(outcome.Part{Key: outcome.Key{Place: outcome.File, Path: "at times"}}, outcome.Absent, outcome.Link),
		},
	}}
	endings.Outcome.Parts[0].Variants = []outcome.Variant{{Digest: outcome.Of(nil)}}
	twice := golden.Record{Name: "stopped", Outcome: outcome.Outcome{
		Ending: regress.Ending{Kind: regress.TimedOut}, Others: []regress.Ending{{Kind: regress.OutputLimit}},
	}}
	return []golden.Record{
		streams("a", regress.Ending{}, exec, b.part(outcome.File, "x.case/stdout", 0, "a file of a")),
		streams("a.case/files/x", regress.Ending{Code: 3}),
		streams("a.case/stdout/y.case", regress.Ending{}),
		streams("golden.json/.git/z", regress.Ending{}, gone),
		streams(".git/HEAD", regress.Ending{}, b.part(outcome.File, "link", outcome.Symlink, "../to\xff")),
		streams("odd \n\xff%41/"+strings.Repeat("é", 120), regress.Ending{}, b.part(outcome.File, strings.Repeat("%", 100)+"1", 0, "1"),
			b.part(outcome.File, strings.Repeat("%", 100)+"2", 0, "2")),
		streams("killed", regress.Ending{Kind: regress.Signalled, Code: 11}, diary,
			b.part(outcome.File, "twin", 0, "a file of a")),
		streams("late", regress.Ending{Kind: regress.TimedOut}),
		ending, stopped, endings, twice,
	}
}

var exampleMeta = golden.Meta{
	Machine: "m", Created: time.Unix(1, 0), Flags: map[string]string{"normalize": "s/<a>/%d/", "stdin": "true"},
	Selection: golden.Selection{Globs: []string{"*\xff"}, Filters: []string{"!%"}, Partition: "hash:1/2", Sample: 9},
	Accepts:   []golden.Accept{{Run: "R", Author: "A"}},
}

// The export of the example equals testdata, which later versions must read. A round trip gives the
// same export again.
func TestExample(t *testing.T) {
	b := bag{}
	path := build(t, exampleMeta, b, example(b)...)
	if *update {
		if err := errors.Join(os.RemoveAll(fixture), exportTo(path, fixture)); err != nil {
			t.Fatal(err)
		}
	}
	want := tree(t, fixture)
	sameTree(t, tree(t, export(t, path)), want)

	back := filepath.Join(t.TempDir(), "back")
	m := golden.Meta{Machine: "another", Flags: map[string]string{"stdin": "false"}}
	if err := Import(t.Context(), fixture, back, m); err != nil {
		t.Fatal(err)
	}
	sameTree(t, tree(t, export(t, back)), want)
	s, err := golden.Open(back)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.Meta(); got.Machine != "another" || !reflect.DeepEqual(got.Flags, exampleMeta.Flags) {
		t.Errorf("meta %+v", got)
	}
	if got := s.Meta().Selection; !reflect.DeepEqual(got, exampleMeta.Selection) {
		t.Errorf("selection %+v", got)
	}
	sameOutcomes(t, s, example(bag{}))
}

// sameOutcomes fails unless s has the given outcomes, whichever of their endings was first.
func sameOutcomes(t *testing.T, s *golden.Store, want []golden.Record) {
	t.Helper()
	for _, r := range want {
		if d, ok := s.OutcomeDigest(r.Name); !ok || d != canonical(r.Outcome) {
			t.Errorf("%q: there %t, with another digest", r.Name, ok)
		}
	}
	if s.Len() != len(want) {
		t.Errorf("%d cases, want %d", s.Len(), len(want))
	}
}

// canonical returns the digest of an outcome whose runs are in the order of their endings.
func canonical(o outcome.Outcome) outcome.Digest {
	all := append([]regress.Ending{o.Ending}, o.Others...)
	slices.SortFunc(all, outcome.CompareEndings)
	o.Ending, o.Others = all[0], all[1:]
	o.Parts = slices.Clone(o.Parts)
	o.Sort()
	return o.Digest()
}

// drawGolden returns a small golden out of few possibilities, so that equal ones are frequent.
func drawGolden(t *rapid.T, b bag) (golden.Meta, []golden.Record) {
	var records []golden.Record
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "a.case/files/a", "a.case/stdout"}), 0, 2, rapid.ID[string])
	for _, n := range names.Draw(t, "names") {
		r := golden.Record{Name: n, Runs: rapid.IntRange(0, 2).Draw(t, "runs")}
		r.Outcome.Ending = rapid.SampledFrom([]regress.Ending{{}, {Code: 1}, {Kind: regress.TimedOut}, {Kind: regress.OutOfMemory}}).Draw(t, "ending")
		for _, e := range []regress.Ending{{}, {Code: 1}, {Kind: regress.TimedOut}} {
			if e != r.Outcome.Ending && (e.Partial() || !r.Outcome.Ending.Partial()) && rapid.IntRange(0, 3).Draw(t, "other ending") == 0 {
				r.Outcome.Others = append(r.Outcome.Others, e)
			}
		}
		r.Outcome.Parts = []outcome.Part{drawPart(t, b, outcome.Stdout, ""), drawPart(t, b, outcome.Stderr, "")}
		if rapid.Bool().Draw(t, "file") {
			r.Outcome.Parts = append(r.Outcome.Parts, drawPart(t, b, outcome.File, "f/stdout"))
		}
		records = append(records, r)
	}
	selection := golden.Selection{Sample: rapid.IntRange(0, 1).Draw(t, "sample")}
	return golden.Meta{Selection: selection, Repeat: rapid.IntRange(0, 1).Draw(t, "repeat"), Flags: map[string]string{"f": rapid.SampledFrom([]string{"", "1"}).Draw(t, "flag")}}, records
}

func drawPart(t *rapid.T, b bag, place outcome.Place, path string) outcome.Part {
	p := b.part(place, path, 0, rapid.SampledFrom([]string{"", "x"}).Draw(t, "content"))
	switch rapid.IntRange(0, 6).Draw(t, "part") {
	case 0:
		p = flaky(p, rapid.SampledFrom([]outcome.Shape{outcome.Absent, outcome.Filled}).Draw(t, "seen"), outcome.Empty)
	case 1:
		p = outcome.Part{Key: p.Key}
	case 2:
		if place == outcome.File {
			p = outcome.Part{Key: p.Key, Form: outcome.Gone}
		}
	case 3:
		p.Exec = place == outcome.File
	case 4:
		p = outcome.Part{Key: p.Key, Form: outcome.Ignored}
	}
	return p
}

// says returns what two goldens must share to have equal exports.
func says(m golden.Meta, records []golden.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, fmt.Sprintf("%q %s", r.Name, canonical(r.Outcome)))
	}
	slices.Sort(all)
	return fmt.Sprint(m.Flags, m.Selection.Sample, all)
}

func TestExportsAreEqualWhenGoldensAre(t *testing.T) {
	equal := 0
	rapid.Check(t, func(rt *rapid.T) {
		b := bag{}
		m1, one := drawGolden(rt, b)
		m2, two := drawGolden(rt, b)
		path := build(t, m1, b, one...)
		t1, t2 := tree(t, export(t, path)), tree(t, export(t, build(t, m2, b, two...)))
		same := says(m1, one) == says(m2, two)
		if same {
			equal++
		}
		if maps.Equal(t1, t2) != same {
			rt.Errorf("equal goldens: %t, exports:\n%v\n%v", same, t1, t2)
		}
		back := filepath.Join(t.TempDir(), "back")
		if err := Import(context.Background(), export(t, path), back, golden.Meta{}); err != nil {
			rt.Fatal(err)
		}
		sameTree(rt, tree(t, export(t, back)), t1)
	})
	t.Logf("%d pairs were equal", equal)
}

func TestExportRefuses(t *testing.T) {
	b := bag{}
	good := build(t, golden.Meta{}, b)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{dir, file, pipe} {
		if err := exportTo(good, to); regress.ClassOf(err) != regress.Input {
			t.Errorf("export to %s: %v", to, err)
		}
	}
	hostile := func(change func(*golden.Record)) string {
		r := golden.Record{Name: "case"}
		r.Outcome.Parts = []outcome.Part{b.part(outcome.File, "f", 0, "x")}
		change(&r)
		return build(t, golden.Meta{}, b, r)
	}
	for _, path := range []string{
		hostile(func(r *golden.Record) { r.Name = "../x" }), hostile(func(r *golden.Record) { r.Name = "/x" }),
		hostile(func(r *golden.Record) { r.Name = "a/./x" }), hostile(func(r *golden.Record) { r.Outcome.Parts[0].Path = "../../x" }),
	} {
		into := filepath.Join(t.TempDir(), "into")
		if err := exportTo(path, into); regress.ClassOf(err) != regress.Input {
			t.Errorf("a hostile golden: %v", err)
		}
	}
}

func TestExportIsInterrupted(t *testing.T) {
	b := bag{}
	s, err := golden.Open(build(t, exampleMeta, b, example(b)...))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Export(ctx, s, filepath.Join(t.TempDir(), "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestImportRefuses(t *testing.T) {
	mend := regexp.MustCompile(` again$|restore or remove cases|name the folder that muster export wrote$`)
	b := bag{}
	path := build(t, exampleMeta, b, example(b)...)
	write := func(at, content string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, at), []byte(content), 0o644) }
	}
	replace := func(at, old, with string) func(string) error {
		return func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, at))
			if err != nil || !strings.Contains(string(b), old) {
				return fmt.Errorf("%s has no %q: %w", at, old, err)
			}
			return write(at, strings.Replace(string(b), old, with, 1))(dir)
		}
	}
	pipe := func(at string) func(string) error {
		return func(dir string) error {
			at := filepath.Join(dir, at)
			return errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o644))
		}
	}
	const file, link = "a.case/files/bin/prog", "a.case/stderr"
	tests := map[string]func(dir string) error{
		"no golden.json":      func(dir string) error { return os.Remove(filepath.Join(dir, goldenFile)) },
		"later format":        replace(goldenFile, `"format": 2`, `"format": 3, "new": 1`),
		"no JSON":             write(goldenFile, "{"),
		"other content":       write(file, "\x7fELG"),
		"longer content":      write(file, "\x7fELF2"),
		"other known content": write("killed.case/files/twin", "A file of a"),
		"longer no content":   write("killed.case/stderr", "x"),
		"missing case":        func(dir string) error { return os.RemoveAll(filepath.Join(dir, "killed.case")) },
		"a case too many":     replace(goldenFile, `"cases": 12`, `"cases": 11`),
		"a file for a case": func(dir string) error {
			at := filepath.Join(dir, "killed.case")
			return errors.Join(os.RemoveAll(at), os.WriteFile(at, nil, 0o644), replace(goldenFile, `"cases": 12`, `"cases": 11`)(dir))
		},
		"a link for a case": func(dir string) error {
			at, aside := filepath.Join(dir, "killed.case"), filepath.Join(dir, "aside")
			return errors.Join(os.Rename(at, aside), os.Symlink("aside", at), replace(goldenFile, `"cases": 12`, `"cases": 11`)(dir))
		},
		"missing content":     func(dir string) error { return os.Remove(filepath.Join(dir, file)) },
		"missing outcome":     func(dir string) error { return os.Remove(filepath.Join(dir, "a.case", outcomeFile)) },
		"a file too many":     write("a.case/files/more", ""),
		"another name":        replace("a.case/outcome.json", `"name": "a"`, `"name": "b"`),
		"a name outside":      replace("a.case/outcome.json", `"name": "a"`, `"name": "../a"`),
		"unknown field":       replace("a.case/outcome.json", `"name": "a"`, `"name": "a", "age": 3`),
		"unknown form":        replace("a.case/outcome.json", `"executable"`, `"form": "fifo", "executable"`),
		"impossible":          replace("a.case/outcome.json", `"part": "stderr"`, `"part": "stdout"`),
		"something after it":  replace("a.case/outcome.json", "\n}\n", "\n}\n{}"),
		"ending without code": replace("a.case/outcome.json", "exited\",\n      \"code\": 0", "exited\""),
		"golden is a pipe":    pipe(goldenFile),
		"outcome is a pipe":   pipe("a.case/outcome.json"),
		"content is a pipe":   pipe(file),
		"no end of JSON":      func(dir string) error { return os.Truncate(filepath.Join(dir, goldenFile), 1<<40) },
		"no ending":           replace("a.case/outcome.json", "[\n    {\n      \"kind\": \"exited\",\n      \"code\": 0\n    }\n  ]", "[]"),
		"endings in disorder": replace("endings.case/outcome.json", "\"code\": 2", "\"code\": -2"),
		"unknown shape":       replace("endings.case/outcome.json", `"link"`, `"lunk"`),
		"a shape twice":       replace("endings.case/outcome.json", `"link"`, `"absent"`),
		"no shapes":           replace("endings.case/outcome.json", "\"seen\": [\n        \"absent\",\n        \"link\"\n      ]", "\"seen\": []"),
		"shapes of a stable":  replace("a.case/outcome.json", `"executable"`, `"seen": ["filled"], "executable"`),
		"no number of cases":  replace(goldenFile, "  \"cases\": 12,\n", ""),
		"format 1":            replace(goldenFile, `"format": 2`, `"format": 1`),
		"a link for a file": func(dir string) error {
			at := filepath.Join(dir, link)
			return errors.Join(os.Remove(at), os.Symlink("stdout", at))
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			dir := export(t, path)
			if err := damage(dir); err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "to")
			err := Import(t.Context(), dir, to, golden.Meta{})
			if regress.ClassOf(err) != regress.Input {
				t.Fatalf("got %v", err)
			}
			if text := err.Error(); !strings.Contains(text, dir) || !mend.MatchString(text) {
				t.Errorf("no place or no mend: %v", err)
			}
			if left, _ := os.ReadDir(filepath.Dir(to)); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Import(t.Context(), fifo, path, golden.Meta{}); regress.ClassOf(err) != regress.Input {
		t.Errorf("a pipe: %v", err)
	}
	if err := Import(t.Context(), t.TempDir()+"/none", path, golden.Meta{}); regress.ClassOf(err) != regress.Input {
		t.Errorf("no folder: %v", err)
	}
}

// Import ignores files beside the cases, so that an export can be in a repository.
func TestImportPassesOver(t *testing.T) {
	b := bag{}
	dir := export(t, build(t, exampleMeta, b, example(b)...))
	want := tree(t, dir)
	for _, at := range []string{".git/refs/x.case/y", "README"} {
		err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o755), os.WriteFile(filepath.Join(dir, at), nil, 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "to")
	if err := Import(t.Context(), dir, to, golden.Meta{}); err != nil {
		t.Fatal(err)
	}
	sameTree(t, tree(t, export(t, to)), want)
}
