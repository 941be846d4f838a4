package wholegolden

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/plainfiles"
)

// bag holds contents by digest.
type bag map[outcome.Digest][]byte

func (b bag) part(place outcome.Place, path, content string) outcome.Part {
	d := outcome.Of([]byte(content))
	b[d] = []byte(content)
	return outcome.Part{Key: outcome.Key{Place: place, Path: path}, Size: int64(len(content)), Digest: d}
}

func (b bag) open(p outcome.Part) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b[p.Digest])), nil
}

// simple returns a record with a text on each stream.
func (b bag) simple(name, out string) golden.Record {
	return golden.Record{Name: name, Runs: 2, Source: outcome.Of([]byte(name)), Outcome: outcome.Outcome{Parts: []outcome.Part{
		b.part(outcome.Stdout, "", out), b.part(outcome.Stderr, "", ""),
	}}}
}

// build makes a golden at path.
func build(t testing.TB, path string, m golden.Meta, shared map[string]outcome.Digest, b bag, records ...golden.Record) {
	t.Helper()
	w, err := golden.Create(path, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Put(context.Background(), r, b.open); err != nil {
			t.Fatal(err)
		}
	}
	if shared != nil {
		if err := w.PutShared(shared); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) *golden.Store {
	t.Helper()
	s, err := golden.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// exported returns all files of the export of a golden.
func exported(t testing.TB, path string) map[string]string {
	t.Helper()
	s := open(t, path)
	dir := filepath.Join(t.TempDir(), "export")
	if err := plainfiles.Export(context.Background(), s, dir); err != nil {
		t.Fatal(err)
	}
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

// shardOf returns the selection of a partition.
func shardOf(s golden.Selection, k, n int) golden.Selection {
	s.Partition = fmt.Sprintf("hash:%d/%d", k, n)
	return s
}

func drawRecord(t *rapid.T, b bag, caseName string) golden.Record {
	r := b.simple(caseName, rapid.SampledFrom([]string{"", "x", "long " + caseName}).Draw(t, "out"))
	r.Origin = rapid.IntRange(0, 1).Draw(t, "origin")
	if rapid.Bool().Draw(t, "flaky") {
		r.Outcome.Others = []regress.Ending{{Code: 3}, {Kind: regress.TimedOut}}
		p := &r.Outcome.Parts[1]
		p.Flaky, p.Seen = true, outcome.ShapesOf(outcome.Empty, outcome.Filled)
		v := b.part(outcome.Stderr, "", "now and then")
		p.Variants = []outcome.Variant{{Size: v.Size, Digest: v.Digest}}
	}
	return r
}

// Shards, merged in any order, equal the whole golden: their exports are equal.
func TestShardsMergedEqualTheWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		b := bag{}
		n := rapid.IntRange(1, 4).Draw(rt, "partitions")
		m := golden.Meta{
			Machine: "m", Flags: map[string]string{"--stdin": "true"}, Repeat: 2, Accepts: []golden.Accept{{Run: "R"}},
			Selection: golden.Selection{Globs: []string{"*.c"}},
		}
		shared := map[string]outcome.Digest{"HDR_a.h": {1}}
		var all []golden.Record
		came := map[string]string{} // by which accept a case came
		shards := make([][]golden.Record, n)
		for i := range rapid.IntRange(0, 8).Draw(rt, "cases") {
			r := drawRecord(rt, b, fmt.Sprint("case", i))
			all = append(all, r)
			at := rapid.IntRange(0, n-1).Draw(rt, "shard")
			shards[at] = append(shards[at], r)
			if r.Origin == 1 {
				came[r.Name] = fmt.Sprint("R", at)
			}
		}
		whole, merged := filepath.Join(dir, "whole"), filepath.Join(dir, "merged")
		build(t, whole, m, shared, b, all...)
		var list []Shard
		for _, i := range rapid.Permutation(upTo(n)).Draw(rt, "order") {
			path := filepath.Join(dir, fmt.Sprint(i))
			part := m
			part.Accepts = []golden.Accept{{Run: fmt.Sprint("R", i)}}
			part.Selection = shardOf(m.Selection, i+1, n)
			build(t, path, part, shared, b, shards[i]...)
			list = append(list, Shard{path, open(t, path)})
		}
		done, err := Merge(t.Context(), merged, nil, list)
		if err != nil {
			rt.Fatal(err)
		}
		if n > 1 && !maps.Equal(exported(t, merged), exported(t, whole)) {
			rt.Error("another export")
		}
		s := open(t, merged)
		if files, err := s.Shared(); done.Cases != len(all) || s.Len() != len(all) || done.Twice != 0 || err != nil || !maps.Equal(files, shared) {
			rt.Errorf("%+v %v %v", done, files, err)
		}
		for _, want := range all {
			got, _, err := s.Get(want.Name)
			by := ""
			if got.Origin > 0 {
				by = s.Meta().Accepts[got.Origin-1].Run
			}
			if err != nil || got.Source != want.Source || by != came[want.Name] {
				rt.Errorf("%s came by %q, not %q: %v", want.Name, by, came[want.Name], err)
			}
		}
		if found, err := s.Check(t.Context()); err != nil || !found.Whole() {
			rt.Errorf("%+v %v", found, err)
		}
	})
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// Merge refuses goldens that do not belong together, and names what they disagree on.
func TestMergeRefuses(t *testing.T) {
	b := bag{}
	base := golden.Meta{
		Command: []golden.Command{{Args: []string{"cc", "{in}"}}}, ExecutableDigest: outcome.Of([]byte("cc")),
		Corpus: outcome.Of([]byte("corpus")), Flags: map[string]string{"--stdin": "true"},
	}
	type shard struct {
		meta    golden.Meta
		shared  map[string]outcome.Digest
		records []golden.Record
	}
	one := func(change func(*shard)) shard {
		s := shard{base, map[string]outcome.Digest{"HDR_a.h": {1}}, []golden.Record{b.simple("dir/a", "1")}}
		s.meta.Flags = maps.Clone(base.Flags)
		change(&s)
		return s
	}
	partition := func(k, n int) func(*shard) {
		return func(s *shard) { s.meta.Selection.Partition = fmt.Sprintf("hash:%d/%d", k, n) }
	}
	var many []golden.Record
	for i := range 20 {
		many = append(many, b.simple(fmt.Sprintf("case%02d", i), "1"))
	}
	other := slices.Clone(many)
	for i := range other {
		other[i] = b.simple(other[i].Name, "2")
	}
	none := func(*shard) {}
	tests := map[string]struct {
		a, b func(*shard)
		says string
	}{
		"outcome":  {none, func(s *shard) { s.records[0] = b.simple("dir/a", "2") }, "1 case: dir/a has another outcome in a than in b"},
		"many":     {func(s *shard) { s.records = many }, func(s *shard) { s.records = other }, "case09 has another outcome in a than in b; and 10 more"},
		"command":  {none, func(s *shard) { s.meta.Command = []golden.Command{{Args: []string{"cc"}}} }, `the command is cc {in} in a and cc in b`},
		"per glob": {none, func(s *shard) { s.meta.Command = append(slices.Clip(base.Command), golden.Command{Glob: "*.f"}) }, `the command is cc {in} in a and cc {in}; , for *.f in b`},
		"tool":     {none, func(s *shard) { s.meta.ExecutableDigest = outcome.Of(nil) }, "the tool's SHA-256 is"},
		"record": {none, func(s *shard) {
			s.meta.Reference = &golden.Recorder{Command: []golden.Command{{Args: []string{"old"}}}}
		}, "the command of the record is cc {in} with "},
		"corpus":     {none, func(s *shard) { s.meta.Corpus = outcome.Of(nil) }, "the corpus's SHA-256 is"},
		"engine":     {none, func(s *shard) { s.meta.Preflight = outcome.Of(nil) }, "the engine's SHA-256 is none in a"},
		"env":        {none, func(s *shard) { s.meta.Env = []string{"A=b"} }, "--env is none in a and A=b in b"},
		"flags":      {none, func(s *shard) { delete(s.meta.Flags, "--stdin") }, "--stdin is true in a and none in b"},
		"shared":     {none, func(s *shard) { s.shared = map[string]outcome.Digest{"HDR_a.h": {2}} }, "HDR_a.h is another in a than in b"},
		"more files": {none, func(s *shard) { s.shared = map[string]outcome.Digest{"HDR_a.h": {1}, "HDR_b.h": {2}} }, "HDR_b.h is another in a than in b"},
		"incomplete": {partition(1, 3), partition(3, 3), "2 of 3 partitions are given: add the goldens of the others, such as hash:2/3"},
		"numbers":    {partition(1, 2), partition(2, 3), "one of 2 partitions"},
		"strange":    {partition(1, 2), func(s *shard) { s.meta.Selection.Partition = "name:1" }, "name:1"},
		"selections": {func(s *shard) { s.meta.Selection.Sample = 3 }, func(s *shard) { s.meta.Selection.Globs = []string{"*.c"} }, "a of --sample 3; b of --cases '*.c'"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var shards []Shard
			for called, change := range map[string]func(*shard){"a": test.a, "b": test.b} {
				s := one(change)
				path := filepath.Join(dir, called)
				build(t, path, s.meta, s.shared, b, s.records...)
				shards = append(shards, Shard{called, open(t, path)})
			}
			slices.SortFunc(shards, func(a, b Shard) int { return strings.Compare(a.Name, b.Name) })
			_, err := Merge(t.Context(), filepath.Join(dir, "merged"), nil, shards)
			if regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v does not say %q", err, test.says)
			}
			if left, _ := os.ReadDir(dir); len(left) != 2 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// A merged golden keeps what recorded it if any shard was moved, and when the last one was.
func TestMergedReference(t *testing.T) {
	moved := func(hour int) *golden.Recorder {
		return &golden.Recorder{Moved: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)}
	}
	for _, test := range [][]*golden.Recorder{{nil, moved(2)}, {moved(2), nil}, {moved(1), moved(2)}, {moved(2), moved(1)}} {
		dir, b := t.TempDir(), bag{}
		var shards []Shard
		for i, reference := range test {
			path := filepath.Join(dir, fmt.Sprint(i))
			build(t, path, golden.Meta{Reference: reference}, nil, b, b.simple("a", "1"))
			shards = append(shards, Shard{path, open(t, path)})
		}
		merged := filepath.Join(dir, "merged")
		if _, err := Merge(t.Context(), merged, nil, shards); err != nil {
			t.Fatal(err)
		}
		if r := open(t, merged).Meta().Reference; r == nil || r.Moved.Hour() != 2 {
			t.Errorf("%+v has %+v", test, r)
		}
	}
}

// Overlapping goldens that agree are merged. If all have the same selection, the result has it too.
func TestMergedSelections(t *testing.T) {
	globs := func(list ...string) golden.Selection { return golden.Selection{Globs: list} }
	whole := golden.Selection{}
	for _, test := range []struct{ a, b, want golden.Selection }{
		{whole, whole, whole},
		{globs("a/*"), globs("a/*"), globs("a/*")},
		{globs("b/*"), globs("a/*"), globs("a/*", "b/*")},
		{globs("b/*"), whole, whole},
		{shardOf(whole, 1, 2), shardOf(whole, 1, 2), shardOf(whole, 1, 2)},
		{shardOf(whole, 2, 2), shardOf(whole, 1, 2), whole},
		{shardOf(globs("a"), 2, 2), shardOf(globs("a"), 1, 2), globs("a")},
		{shardOf(whole, 1, 2), whole, whole},
	} {
		dir := t.TempDir()
		b := bag{}
		var shards []Shard
		for i, s := range []golden.Selection{test.a, test.b} {
			path := filepath.Join(dir, fmt.Sprint(i))
			build(t, path, golden.Meta{Selection: s, Machine: fmt.Sprint("m", i), TimesVary: i > 0, Run: "R", AcceptedRun: "R", AcceptBase: outcome.Of(nil)}, nil, b, b.simple("a", "1"))
			shards = append(shards, Shard{path, open(t, path)})
		}
		merged := filepath.Join(dir, "merged")
		done, err := Merge(t.Context(), merged, nil, shards)
		if err != nil || done.Cases != 1 || done.Twice != 1 {
			t.Errorf("%+v and %+v: %+v %v", test.a, test.b, done, err)
			continue
		}
		s := open(t, merged)
		if m := s.Meta(); fmt.Sprint(m.Selection) != fmt.Sprint(test.want) || m.Machine != "m0, m1" || !m.TimesVary || m.Run != "" || m.AcceptedRun != "" || isKnown(m.AcceptBase) {
			t.Errorf("%+v", m)
		}
		if files, err := s.Shared(); files != nil || err != nil {
			t.Errorf("shared %v %v", files, err)
		}
	}
}

// example is a golden with some of everything that is shown.
func example(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "g")
	b := bag{}
	plain := b.simple("dir/plain.c", "out")
	exec, link := b.part(outcome.File, "a.out", "x"), b.part(outcome.File, "link", "to")
	exec.Exec, link.Form = true, outcome.Symlink
	plain.Outcome.Parts = append(plain.Outcome.Parts, exec,
		outcome.Part{Key: outcome.Key{Place: outcome.File, Path: "given\n"}, Form: outcome.Gone}, link)
	varies := b.simple("varies", "1")
	varies.Origin, varies.Source = 1, outcome.Digest{}
	varies.Outcome.Ending = regress.Ending{Kind: regress.Signalled, Code: 11}
	varies.Outcome.Others = []regress.Ending{{Code: 3}, {Kind: regress.TimedOut}}
	varies.Outcome.Parts[0].Flaky, varies.Outcome.Parts[0].Seen = true, outcome.ShapesOf(outcome.Absent, outcome.Filled)
	late := b.simple("late", "partial")
	late.Outcome.Ending = regress.Ending{Kind: regress.TimedOut}
	at := time.Date(2025, 1, 31, 14, 25, 1, 0, time.UTC)
	build(t, path, golden.Meta{
		Command:    []golden.Command{{Args: []string{"cc", "{in}"}}, {Glob: "*.f", Args: []string{"f77"}}},
		Executable: "/bin/cc", ExecutableDigest: outcome.Of([]byte("cc")), Env: []string{"A=b"}, Corpus: outcome.Of([]byte("corpus")),
		CorpusPath: "c.tar", Machine: "host linux/amd64", MusterVersion: "0.2", Created: at, Repeat: 2,
		Flags: map[string]string{"--stdin": "true"}, Selection: golden.Selection{Globs: []string{"*"}, Filters: []string{"!x"}, Partition: "hash:1/2", Sample: 9},
		Accepts: []golden.Accept{{Run: "R", Author: "A. Author", At: at, Reason: "why\tnot", Command: []golden.Command{{Args: []string{"cc2"}}}}},
	}, map[string]outcome.Digest{"HDR_a.h": {}}, b, plain, varies, late)
	return path
}

func TestText(t *testing.T) {
	var got bytes.Buffer
	if err := WriteText(t.Context(), &got, open(t, example(t))); err != nil {
		t.Fatal(err)
	}
	of := func(s string) string { return outcome.Of([]byte(s)).String() }
	want := strings.Join([]string{
		"# command\tcc {in}", "# command\tf77, for *.f", "# env\tA=b", "# flag\t--stdin\ttrue", "# corpus\t" + of("corpus"),
		"# selection\t--cases '*' --filter '!x' --partition hash:1/2 --sample 9",
		"# accepted\t2025-01-31 14:25:01 UTC\tA. Author\tR\twhy%09not",
		"dir/plain.c\texit 0",
		"dir/plain.c\tstdout\tregular\t3\t" + of("out"),
		"dir/plain.c\tstderr\tregular\t0\t" + of(""),
		"dir/plain.c\ta.out\texecutable\t1\t" + of("x"),
		"dir/plain.c\tgiven%0A\tremoved",
		"dir/plain.c\tlink\tlink\t2\t" + of("to"),
		"late\ttimed-out",
		"varies\tsignal 11 (SIGSEGV)\tor exit 3\tor timed-out",
		"varies\tstdout\tflaky\tabsent filled",
		"varies\tstderr\tregular\t0\t" + of(""), "",
	}, "\n")
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
}

func TestInfo(t *testing.T) {
	path := example(t)
	i, err := Describe("the.golden", open(t, path))
	if err != nil {
		t.Fatal(err)
	}
	if i.Cases != 3 || i.FlakyCases != 1 || i.SourcesKnown != 2 || *i.SharedFiles != 1 || len(i.Accepts) != 1 || i.Accepts[0].Cases != 1 {
		t.Errorf("%+v", i)
	}
	file, err := os.Stat(path)
	if err != nil || i.FileBytes != file.Size() || i.Contents == 0 || i.ContentBytes == 0 || i.PackedBytes == 0 {
		t.Errorf("%+v %v", i, err)
	}
	b, err := json.Marshal(i)
	if err != nil || !strings.HasPrefix(string(b), `{"type":"golden","golden":"the.golden","format":3,"digest":"`) ||
		!strings.Contains(string(b), `"selection":{"cases":["*"],"filters":["!x"],"partition":"hash:1/2","sample":9}`) {
		t.Errorf("%s %v", b, err)
	}
	var text bytes.Buffer
	if err := i.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"golden     the.golden, format 3", "cases      3, 1 of them flaky",
		"recorded   2025-01-31 14:25:01 UTC by muster 0.2 on host linux/amd64, 2 runs a case",
		"command    cc {in}", "command    f77, for *.f", "tool       /bin/cc, SHA-256 " + outcome.Of([]byte("cc")).String(),
		"flag       --stdin true", "sources    digests of 2 cases, 1 shared file",
		"selection  --cases '*' --filter '!x' --partition hash:1/2 --sample 9",
		"accepted   run R, 2025-01-31 14:25:01 UTC by A. Author: cc2: why not; from it: 1 case of the golden",
	} {
		if !strings.Contains(text.String(), line+"\n") {
			t.Errorf("%q is not in\n%s", line, &text)
		}
	}
}
