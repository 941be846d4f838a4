package keep

import (
	"bytes"
	"context"
	"io"

	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// FirstRecord returns the record of a case with one run.
func FirstRecord(name string, r *exec.Result, l Likeness) golden.Record {
	rec := golden.Record{Name: name, Outcome: r.Outcome, Cost: r.Cost}
	l.count(&rec)
	return rec
}

// ContentsIn opens the contents of parts in a writer.
func ContentsIn(w *golden.Writer) func(outcome.Part) (io.ReadCloser, error) {
	return func(p outcome.Part) (io.ReadCloser, error) {
		b, err := w.Bytes(p)
		return io.NopCloser(bytes.NewReader(b)), err
	}
}

// MergeRun joins a further run of a case with the record of the earlier runs, which is in the
// writer. It reports whether they differ. The caller counts the run.
func MergeRun(ctx context.Context, w *golden.Writer, rec *golden.Record, r *exec.Result, same content.Sameness) (differ bool, err error) {
	merged, err := outcome.Merge(&rec.Outcome, &r.Outcome, same(ContentsIn(w), r.Open))
	if err != nil {
		return false, err
	}
	if merged == outcome.Replaced {
		rec.Cost = r.Cost
	}
	// The writer asks for the contents that it lacks: those of a replacement.
	return merged != outcome.Nothing, w.Put(ctx, *rec, r.Open)
}
