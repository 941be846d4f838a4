package regress

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/reapitest"
	"muster/regress/internal/golden"
)

// What an engine is asked for that gives no whole folder, and what of it counts.
func TestAsked(t *testing.T) {
	for _, c := range []struct{ pattern, caseName, wanted, counts, not string }{
		{"{stem}.s", "a/x.c", "a/x.s", "a/x.s", "x.s"},
		{"./out.bin", "a/x.c", "out.bin", "out.bin", "out"},
		{"gen", "a/x.c", "gen", "gen/a/b", "gen2"},
		{"out/**", "a/x.c", "out", "out/a/b", "x"},
		{"out/*.o", "a/x.c", "out", "out/x.o", "out/x.d"},
		{"out/*.o", "a/x.c", "out", "out/y.o", "out/a/x.o"},
		{"./out/{a,b}/*.o", "a/x.c", "out", "out/b/x.o", "out/c/x.o"},
		{"{dir}/gen/{name}.*", "a/x.c", "a/gen", "a/gen/x.c.s", "a/gen/y.c.s"},
		{"{dir}/gen/*", "x.c", "gen", "gen/y", "y"},
		{"{out}", "a[1]*.c", "a[1]*.c.out", "a[1]*.c.out", "a1.c.out"},
		{"{out}", "-x.c", "-x.c.out", "-x.c.out", "x.c.out"},
		{"out/{stem}*", `a[1]{b,c}\?*.c`, "out", `out/a[1]{b,c}\?*.s`, "out/a1b0.s"},
		{"{stem}/*.o", `a[1]*.c`, "a[1]*", "a[1]*/x.o", "a1/x.o"},
	} {
		s := session{o: &Options{Remote: Remote{Outputs: []string{c.pattern}}}}
		names, counts := s.outputsOf(jobOf(c.caseName))
		if !slices.Equal(names, []string{c.wanted}) || !counts(c.counts) || counts(c.not) {
			t.Errorf("%s of %s: %q is asked for; %s counts: %t, %s: %t", c.pattern, c.caseName, names, c.counts, counts(c.counts), c.not, counts(c.not))
		}
	}
	for _, pattern := range []string{"*.s", "**/x", "./*.s", "{a,b}/*.s", "{dir}/*.s"} {
		if got, _, err := asked(pattern, "x"); err == nil {
			t.Errorf("%s asks for %q", pattern, got)
		}
	}
	// What the golden knows counts beside, also when it has become a folder.
	s := session{o: &Options{Remote: Remote{Outputs: []string{"out/*.o"}}}, engine: &engine{}}
	s.engine.expect(func(string) []string { return []string{"out/x.d", "log"} })
	names, counts := s.outputsOf(jobOf("x.c"))
	if !slices.Equal(names, []string{"out", "out/x.d", "log"}) || !counts("out/x.d") || !counts("log/1") || counts("out/y.d") {
		t.Errorf("%q are asked for", names)
	}
}

func jobOf(caseName string) (job exec.Job) {
	job.Source.Name = caseName
	return job
}

// An engine that gives a folder as it is asked for, and never the whole: what the pattern
// does not match is in no golden.
func TestPatternOnPartialEngine(t *testing.T) {
	o := onPartialEngine(t, partialEngine(t, "out", "x.o", "x.d"))
	if _, err := Record(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	g, err := golden.Open(o.Store.Golden)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if got := filesLeft(g)("x.c"); !slices.Equal(got, []string{"out/x.o"}) {
		t.Errorf("the golden has %q", got)
	}
	if sum, err := Check(t.Context(), o); err != nil || sum.ExitStatus != 0 {
		t.Error(sum, err)
	}
}

// onPartialEngine are options of a run of one case, x.c, on an engine that gives a folder out.
func onPartialEngine(t *testing.T, url string) Options {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	if err := errors.Join(os.Mkdir(src, 0o700), os.WriteFile(filepath.Join(src, "x.c"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	o := sound()
	o.Corpus.Path, o.Command.Words = src, []string{"/usr/bin/cc", "{in}"}
	o.Store = Store{Golden: filepath.Join(dir, "golden"), State: filepath.Join(dir, "state")}
	o.Remote = Remote{URL: url, Outputs: []string{"out/*.o"}}
	o.Report = Report{Format: Text, Quiet: true, Stdout: io.Discard, Stderr: io.Discard}
	return o
}

// partialEngine serves one on which every command leaves a folder with such empty files, and
// returns its URL.
func partialEngine(t *testing.T, folder string, files ...string) string {
	t.Helper()
	e := reapitest.New(reapitest.Options{Run: reapitest.Folder(folder, files...)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := e.Serve(l)
	t.Cleanup(func() {
		stop()
		e.Close()
	})
	return "grpc://" + l.Addr().String()
}
