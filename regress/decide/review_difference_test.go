package decide

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/record"
	"muster/test/kits/reapitest"
)

// TestReviewNamesEngine: a review says where a case ran, in the words of the other reports.
func TestReviewNamesEngine(t *testing.T) {
	dir := t.TempDir()
	o := regress.Options{
		Corpus:  regress.Corpus{Path: filepath.Join(dir, "src")},
		Command: regress.Command{Words: []string{"/usr/bin/cc", "{in}"}},
		Limits:  regress.Limits{Jobs: 2},
		Judge:   regress.CompareOptions{Repeat: 2, Retries: 2},
		Store:   regress.Store{Golden: filepath.Join(dir, "golden"), State: filepath.Join(dir, "state")},
		Remote:  regress.Remote{URL: reapitest.ServeFolder(t, "out", "x.o"), Outputs: []string{"out/*.o"}},
		Report:  regress.Report{Format: regress.Text, Quiet: true},
	}
	source := filepath.Join(o.Corpus.Path, "x.c")
	if err := errors.Join(os.Mkdir(o.Corpus.Path, 0o700), os.WriteFile(source, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	h := host.Host{Stdout: io.Discard, Stderr: io.Discard}
	if _, err := record.Run(t.Context(), o, h); err != nil {
		t.Fatal(err)
	}
	o.Remote.URL = reapitest.ServeFolder(t, "out", "y.o")
	if sum, err := check.Run(t.Context(), o, h); err != nil || sum.ExitStatus != 1 {
		t.Fatal(sum, err)
	}
	w, err := openReviewedRun(&o, host.Host{}, "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.difference(t.Context(), "x.c")
	if err = errors.Join(err, w.stores.close()); err != nil || !strings.HasPrefix(d.Where, "ran") || len(d.Parts) != 2 {
		t.Errorf("%q, %d parts, %v", d.Where, len(d.Parts), err)
	}
}
