package regress

import (
	"io"

	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
)

// baseline has the outcomes that a candidate's are compared with. Several goroutines may call its
// methods.
type baseline interface {
	// Has reports whether there is an outcome to compare a case with.
	Has(name string) bool
	// Digest returns the digest of a case's outcome, if that is known without reading it.
	Digest(name string) (d outcome.Digest, known bool)
	// Get returns the outcome of a case. A reference's is kept only if the case is not identical.
	Get(name string) (golden.Record, bool, error)
	// Content opens a part of an outcome.
	Content(p outcome.Part) (io.ReadCloser, error)
}

// goldenBase is a golden as a baseline.
type goldenBase struct{ *golden.Store }

// Has implements baseline.
func (b goldenBase) Has(name string) bool {
	_, known := b.OutcomeDigest(name)
	return known
}

// Digest implements baseline.
func (b goldenBase) Digest(name string) (outcome.Digest, bool) { return b.OutcomeDigest(name) }

// recorded is what a check knows of its golden beside the outcomes.
type recorded struct {
	meta   golden.Meta
	digest outcome.Digest
	took   pass.Durations         // of the selected cases
	masks  func(name string) bool // reports whether parts of a case vary, and are not compared
}

// reference is the command that runs beside the candidate in a compare. It is a baseline.
type reference struct {
	command     *exec.Command
	*keep.Store // outcomes of the cases that are not identical; nil before the run begins
}

// Has implements baseline. The reference runs every case.
func (r *reference) Has(string) bool { return true }

// Digest implements baseline.
func (r *reference) Digest(string) (d outcome.Digest, known bool) { return d, false }
