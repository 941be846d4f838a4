package regress

import (
	"errors"
	"io"
	"strings"
	"testing"

	"muster/regress/check"
	"muster/regress/host"
)

// Who decides sees where a case ran, as the other reports say it.
func TestReviewSaysWhereACaseRan(t *testing.T) {
	o := onPartialEngine(t, partialEngine(t, "out", "x.o"))
	if _, err := Record(t.Context(), o, host.Host{Stdout: io.Discard, Stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	o.Remote.URL = partialEngine(t, "out", "y.o")
	if sum, err := check.Run(t.Context(), o, host.Host{Stdout: io.Discard, Stderr: io.Discard}); err != nil || sum.ExitStatus != 1 {
		t.Fatal(sum, err)
	}
	w, err := openReviewedRun(t.Context(), &o, host.Host{}, "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.difference(t.Context(), "x.c")
	if err = errors.Join(err, w.close()); err != nil || !strings.HasPrefix(d.Where, "ran") || len(d.Parts) != 2 {
		t.Errorf("%q, %d parts, %v", d.Where, len(d.Parts), err)
	}
}
