// Package terminal shows a review on a terminal: the causes left, a difference right,
// and keys to decide. It is a thin view: what there is to decide, and how a difference is
// laid out, comes from package review; nothing is written but by its Desk.
//
// It must not send to the terminal what a tool has put out: package review has made that
// harmless, and the rest goes through readable.
package terminal

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"

	"muster/regress/internal/review"
)

// Streams is the terminal.
type Streams struct {
	In, Out *os.File
	Colour  bool
	Environ []string // K=V
}

// Run shows a review until its reviewer leaves, and returns what was written. The
// terminal is then as it was before. A context that ends ends it, and nothing is written.
func Run(ctx context.Context, d *review.Desk, s Streams) ([]review.Result, error) {
	m := newModel(ctx, d, s.Colour)
	// The program's own handling of signals ends the context.
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(s.In), tea.WithOutput(s.Out),
		tea.WithEnvironment(s.Environ), tea.WithoutSignalHandler())
	_, err := p.Run()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, tea.ErrInterrupted):
		err = context.Canceled
	}
	return m.written, err
}
