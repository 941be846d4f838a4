package verdict

import (
	"io"

	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
)

// A Baseline has the outcomes that a candidate's are compared with. Several goroutines may call its
// methods.
type Baseline interface {
	// Has reports whether there is an outcome to compare a case with.
	Has(name string) bool
	// OutcomeDigest returns the digest of a case's outcome, if that is known without reading it.
	OutcomeDigest(name string) (d outcome.Digest, known bool)
	// Get returns the outcome of a case. A reference's is kept only if the case is not identical.
	Get(name string) (golden.Record, bool, error)
	// Content opens a part of an outcome.
	Content(p outcome.Part) (io.ReadCloser, error)
}

// GoldenBaseline is a golden as a Baseline.
type GoldenBaseline struct{ *golden.Store }

// Has implements Baseline.
func (b GoldenBaseline) Has(name string) bool {
	_, known := b.OutcomeDigest(name)
	return known
}

// Reference is a command that runs beside the candidate. It is a Baseline.
type Reference struct {
	Command     *exec.Command
	*keep.Store // outcomes of the cases that are not identical; nil before the run begins
}

// Has implements Baseline. The reference runs every case.
func (r *Reference) Has(string) bool { return true }

// OutcomeDigest implements Baseline.
func (r *Reference) OutcomeDigest(string) (d outcome.Digest, known bool) { return d, false }
