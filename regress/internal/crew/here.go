package crew

import (
	"context"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// Here runs cases in lanes on this machine.
type Here struct{ o Options }

// NewHere returns a crew on this machine. It starts nothing.
func NewHere(o Options) *Here { return &Here{o} }

// Resolve implements Crew.
func (h *Here) Resolve(words []string) (*exec.Command, error) {
	return exec.Resolve(words, h.o.Shell, h.o.Stdin)
}

// Start implements Crew. It starts the lanes.
func (h *Here) Start(ctx context.Context, s Setup) (exec.Executor, error) {
	if h.o.StartExecutor != nil {
		return h.o.StartExecutor(s.Lanes)
	}
	if len(h.o.Helper) == 0 {
		return nil, fault.Environmentf("no lane helper: Options.Helper is empty")
	}
	if err := CheckLimits(s.Lanes); err != nil {
		return nil, err
	}
	lanes, err := local.Start(ctx, local.Options{
		Lanes: s.Lanes, Helper: h.o.Helper, Corpus: s.Corpus, Env: s.Env,
		Timeout: s.Timeout, Grace: s.Grace,
		MemoryMax: max(0, s.MemoryMax), OutputMax: s.OutputMax,
		NoNetwork: s.NoNetwork, Keep: s.Keep, Note: h.o.Note, Warn: h.o.Warn,
	})
	if err != nil {
		return nil, err // avoid a nil *local.Crew in the interface
	}
	return lanes, nil
}

// Width implements Crew.
func (h *Here) Width() Width { return Width{Jobs: h.o.Jobs, Goroutines: h.o.Jobs} }

// IsRemote implements Crew.
func (h *Here) IsRemote() bool { return false }

// Identity implements Crew. The tool's files identify a run here, which the session adds.
func (h *Here) Identity() map[string]string { return nil }

// Preflight implements Crew.
func (h *Here) Preflight() outcome.Digest { return outcome.Digest{} }

// Sum implements Crew.
func (h *Here) Sum() *regress.EngineRuns { return nil }

// Quiet implements Crew.
func (h *Here) Quiet() {}

// Close implements Crew.
func (h *Here) Close() {}
