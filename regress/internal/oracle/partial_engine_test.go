package oracle

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/internal/crew"
	"muster/regress/internal/golden"
	"muster/regress/record"
	"muster/test/kits/reapitest"
)

// An engine that gives a folder as it is asked for, and never the whole: what the pattern
// does not match is in no golden.
func TestPatternOnPartialEngine(t *testing.T) {
	o := onPartialEngine(t, reapitest.ServeFolder(t, "out", "x.o", "x.d"))
	if _, err := record.Run(t.Context(), o, host.Host{Stdout: io.Discard, Stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	g, err := golden.Open(o.Store.Golden)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if got := crew.FilesLeft(g.Get)("x.c"); !slices.Equal(got, []string{"out/x.o"}) {
		t.Errorf("the golden has %q", got)
	}
	if sum, err := check.Run(t.Context(), o, host.Host{Stdout: io.Discard, Stderr: io.Discard}); err != nil || sum.ExitStatus != 0 {
		t.Error(sum, err)
	}
}

// onPartialEngine are options of a run of one case, x.c, on an engine that gives a folder out.
func onPartialEngine(t *testing.T, url string) regress.Options {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	if err := errors.Join(os.Mkdir(src, 0o700), os.WriteFile(filepath.Join(src, "x.c"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	o := regress.Options{
		Limits: regress.Limits{Jobs: 2, Timeout: regress.TimeoutDefault, OutputMax: regress.OutputMaxDefault},
		Judge:  regress.CompareOptions{Repeat: 2, Retries: 2},
	}
	o.Corpus.Path, o.Command.Words = src, []string{"/usr/bin/cc", "{in}"}
	o.Store = regress.Store{Golden: filepath.Join(dir, "golden"), State: filepath.Join(dir, "state")}
	o.Remote = regress.Remote{URL: url, Outputs: []string{"out/*.o"}}
	o.Report = regress.Report{Format: regress.Text, Quiet: true}
	return o
}
