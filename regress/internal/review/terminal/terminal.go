// Package terminal shows a review on a terminal: the causes on the left, a difference on the
// right, and keys to decide. It is a thin view: the items, decisions and layout come from
// package review, and only review.Desk writes to disk.
//
// It must not send a tool's output to the terminal unescaped: all shown text passes through one
// function that makes it harmless.
package terminal

import (
	"context"
	"os"

	tea "charm.land/bubbletea/v2"

	"muster/regress/internal/fault"
	"muster/regress/internal/review"
)

// Streams are the streams of the terminal.
type Streams struct {
	In, Out *os.File
	Colour  bool
	Environ []string // K=V

	// Lend is called before an editor gets the terminal. It returns the function to call after
	// the editor has exited.
	Lend func() (back func())
}

// Run shows a review until the reviewer leaves, and returns what was written. It then restores
// the terminal. If a write failed before the reviewer left, Run returns the error, because a
// status line may not show all of it. The end of the context ends the review, and so does
// ctrl+c: Run stops a write in progress and waits for it.
func Run(ctx context.Context, d *review.Desk, s Streams) ([]review.Result, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(running, d, s.Colour)
	m.editor, m.lend = editorIn(s.Environ), s.Lend
	// The caller's signals end ctx. Bubbletea does not get ctx: a program that ends through its
	// context, or through tea.Interrupt, closes the terminal's reader during a read.
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
