// Package terminal shows a review on a terminal: the causes left, a difference right,
// and keys to decide. It is a thin view: what there is to decide, and how a difference is
// laid out, comes from package review; nothing is written but by its Desk.
//
// It must not send to the terminal what a tool has put out: all that is shown goes through
// one place that makes it harmless.
package terminal

import (
	"context"
	"os"

	tea "charm.land/bubbletea/v2"

	"muster/regress/internal/fault"
	"muster/regress/internal/review"
)

// Streams is the terminal.
type Streams struct {
	In, Out *os.File
	Colour  bool
	Environ []string // K=V

	// Lend is called before an editor gets the terminal, and back after its end.
	Lend func() (back func())
}

// Run shows a review until its reviewer leaves, and returns what was written. The
// terminal is then as it was before. Who leaves after a write that failed gets its error: a
// status line may have no room for it. A context that ends ends it, and so does ctrl+c: what
// is being written then is stopped, and waited for.
func Run(ctx context.Context, d *review.Desk, s Streams) ([]review.Result, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(running, d, s.Colour)
	m.editor, m.lend = editorIn(s.Environ), s.Lend
	// Signals end the context, outside. It is not given to bubbletea: a program that it ends in
	// that way, or by tea.Interrupt, closes the reader of the terminal while that still reads.
	p := tea.NewProgram(m, tea.WithInput(s.In), tea.WithOutput(s.Out),
		tea.WithEnvironment(s.Environ), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, p.Quit)()
	_, err := p.Run()
	stop()
	if ctx.Err() != nil || m.interrupted {
		err = context.Canceled
	}
	if m.commit != nil {
		<-m.commit.done
		if failed := m.commit.err; failed != nil {
			err = fault.Interruptedf("interrupted while it was written: %w", failed)
		}
		m.settle()
	}
	if err == nil {
		err = m.failed
	}
	return m.written, err
}
