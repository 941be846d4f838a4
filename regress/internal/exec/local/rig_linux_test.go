package local

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// file is one file of a corpus that a test makes.
type file struct {
	name, body string
	exec       bool
	link       string // target of a symlink
}

// given is what every case of the tests' corpus sees; cases are the others.
var given = []file{
	{name: "HDR_a.h", body: "header a\n"},
	{name: "HDR_tool.sh", body: "#!/bin/sh\necho tool\n", exec: true},
	{name: "inc/HDR_b.h", body: "header b\n"},
	{name: "inc/deep/HDR_c.h", body: "header c\n"},
	{name: "other/HDR_b.h", body: "another b\n"},
	{name: "link", link: "inc"},
}

var cases = []file{
	{name: "one.c", body: "source one\n"},
	{name: "sub/two.c", body: "source two\n"},
	{name: "sub/deep/three.c", body: "source three\n", exec: true},
	{name: "next.c", body: "source next\n"},
	{name: "empty.c"},
}

// pack writes a tar and opens it.
func pack(t testing.TB, files ...file) *corpus.Corpus {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Linkname: f.link, Size: int64(len(f.body)), Mode: 0o644, Typeflag: tar.TypeReg}
		if f.exec {
			h.Mode = 0o755
		}
		if f.link != "" {
			h.Typeflag = tar.TypeSymlink
		}
		must(t, w.WriteHeader(h))
		_, err := io.WriteString(w, f.body)
		must(t, err)
	}
	must(t, w.Close())
	name := filepath.Join(t.TempDir(), "corpus.tar")
	must(t, os.WriteFile(name, b.Bytes(), 0o600))
	return openCorpusAt(t, name)
}

func openCorpusAt(t testing.TB, name string) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Open(context.Background(), corpus.Options{Path: name})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func usual(t testing.TB) *corpus.Corpus {
	t.Helper()
	return pack(t, append(slices.Clone(given), cases...)...)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// needed ends a test that cannot run here: by a skip, or by a failure where
// MUSTER_REQUIRE=all says that nothing may be missing.
func needed(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// rig is a crew under test.
type rig struct {
	*testing.T
	crew   *Crew
	corpus *corpus.Corpus
	notes  *notes
}

// notes are what a crew told, warnings marked as such.
type notes struct {
	mu   sync.Mutex
	said []string
}

func (n *notes) warn(s string) { n.add("warning: " + s) }

func (n *notes) add(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, s)
}

func options(c *corpus.Corpus) Options {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Options{
		Lanes: 1, Helper: []string{program}, Corpus: c, Visible: []string{program},
		Timeout: time.Minute, Grace: time.Minute, OutputMax: 64 << 20,
	}
}

// shared makes a folder in which the cases of all lanes can write, unlike those in /tmp.
func shared(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "muster-test-")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}

// newRig starts a crew, which ends with the test.
func newRig(t *testing.T, c *corpus.Corpus, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{T: t, corpus: c, notes: &notes{}}
	o := options(c)
	o.Note, o.Warn = r.notes.add, r.notes.warn
	o.Visible = append(o.Visible, t.TempDir())
	for _, f := range change {
		f(&o)
	}
	var err error
	r.crew, err = Start(context.Background(), o)
	must(t, err)
	t.Cleanup(func() { must(t, r.crew.Close()) })
	if !o.plain && !r.crew.mode.isolates() {
		needed(t, fmt.Sprint("no namespaces here: ", r.notes.said))
	}
	return r
}

// sub runs a subtest with the same crew.
func (r *rig) sub(name string, test func(r *rig)) {
	r.Run(name, func(t *testing.T) {
		s := *r
		s.T = t
		test(&s)
	})
}

func plainly(o *Options) { o.plain = true }

// inBothModes runs a test with lanes in namespaces of their own, and without.
func inBothModes(t *testing.T, c func(testing.TB) *corpus.Corpus, test func(r *rig), change ...func(*Options)) {
	t.Helper()
	for _, plain := range []bool{false, true} {
		t.Run(modeNames[plain], func(t *testing.T) {
			test(newRig(t, c(t), append(change[:len(change):len(change)], func(o *Options) { o.plain = plain })...))
		})
	}
}

var modeNames = map[bool]string{false: "namespaces", true: "plain"}

func (r *rig) entry(source string) corpus.Entry {
	r.Helper()
	for _, e := range r.corpus.Cases() {
		if e.Name == source {
			return e
		}
	}
	r.Fatalf("no case %q", source)
	panic("unreachable")
}

// script is a command that runs a shell's script with the source as $1.
func script(t testing.TB, text string) *exec.Command {
	t.Helper()
	c, err := exec.Resolve([]string{"/bin/sh", "-c", text, "sh", "{in}"}, false, false)
	must(t, err)
	return c
}

// job is a script for a case.
func (r *rig) job(name, text string) exec.Job {
	r.Helper()
	return exec.Job{Source: r.entry(name), Command: script(r, text), Avoid: exec.NoLane}
}

// try runs a script for a case.
func (r *rig) try(name, text string) (*exec.Result, error) {
	r.Helper()
	return exec.Run(context.Background(), r.crew, r.job(name, text))
}

// run runs a script for a case and says what came of it, a line for each part.
func (r *rig) run(name, text string) []string {
	r.Helper()
	result, err := r.try(name, text)
	must(r, err)
	defer result.Release()
	return r.tell(result)
}

// tell words an outcome: the ending, then every part that is not an empty
// stream.
func (r *rig) tell(result *exec.Result) []string {
	r.Helper()
	lines := []string{result.Outcome.Ending.String()}
	for _, p := range result.Outcome.Parts {
		content, part := r.content(result, p), p.Key.String()
		if p.Place == outcome.File {
			part = name.Print(p.Path)
		}
		if int64(len(content)) != p.Size || p.Form != outcome.Gone && p.Digest != outcome.Of(content) {
			r.Errorf("%s: its size or digest is not that of its content", p.Key)
		}
		switch {
		case p.Form == outcome.Gone:
			lines = append(lines, part+" gone")
		case p.Form == outcome.Symlink:
			lines = append(lines, part+" -> "+string(content))
		case p.Size > 0 || p.Place == outcome.File:
			lines = append(lines, part+" "+brief(content)+map[bool]string{true: " exec"}[p.Exec])
		}
	}
	return lines
}

func (r *rig) content(result *exec.Result, p outcome.Part) []byte {
	r.Helper()
	f, err := result.Open(p)
	must(r, err)
	defer f.Close()
	content, err := io.ReadAll(f)
	must(r, err)
	return content
}

// brief keeps long contents out of failures.
func brief(content []byte) string {
	if len(content) <= 300 {
		return fmt.Sprintf("%q", content)
	}
	return fmt.Sprintf("%d bytes %x", len(content), sha256.Sum256(content))
}

// want compares what came of a case with what should have.
func (r *rig) want(got []string, want ...string) {
	r.Helper()
	if !slices.Equal(got, want) {
		r.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// wantClean runs a case that lists its lane's folder, and compares that with
// what every case must find.
func (r *rig) wantClean(name string) {
	r.Helper()
	result, err := r.try(name, "exec "+self("list", ".."))
	must(r, err)
	defer result.Release()
	if got := r.tell(result); len(got) != 2 || got[0] != "exit 0" {
		for _, p := range result.Outcome.Parts {
			r.Logf("%s: %.500s", p.Key, r.content(result, p))
		}
		r.Fatalf("the listing gave %s", got)
	}
	got := strings.Split(strings.TrimSuffix(string(r.content(result, result.Outcome.Parts[0])), "\n"), "\n")
	r.want(got, listing(r.corpus, name)...)
}

// listing is what listTool must print of a lane's folder in the case of that
// name.
func listing(c *corpus.Corpus, name string) []string {
	lines := map[string]string{}
	for _, dir := range []string{".", "home", "tmp", "work"} {
		lines[dir] = `40755 ""`
	}
	for _, f := range append(slices.Clone(given), cases...) {
		isGiven := slices.ContainsFunc(c.Given(), func(e corpus.Entry) bool { return e.Name == f.name })
		if !isGiven && f.name != name {
			continue
		}
		at := "work/" + f.name
		mode := 0o100644
		if f.exec {
			mode = 0o100755
		}
		lines[at] = fmt.Sprintf(`%o 1 links %x ""`, mode, sha256.Sum256([]byte(f.body)))
		if f.link != "" {
			lines[at] = "120777 " + f.link
		}
		for dir := path.Dir(at); dir != "work"; dir = path.Dir(dir) {
			lines[dir] = `40755 ""`
		}
	}
	// As WalkDir goes: by name, folder by folder.
	names := slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
	})
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q %s", n, lines[n]))
	}
	return out
}
