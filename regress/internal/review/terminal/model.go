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
	"time"

	tea "charm.land/bubbletea/v2"

	"muster/internal/wording"
	"muster/regress/internal/fault"
	"muster/regress/internal/review"
)

// A stage decides what the keys do.
type stage int

const (
	browsing stage = iota
	filtering
	reading    // the help
	confirming // asks before anything is written
	writing
)

// A model is the content of the screen. One goroutine uses it. Slow work runs as a command,
// whose result comes back as a message.
type model struct {
	ctx   context.Context
	desk  *review.Desk
	paint painter

	width, height int
	stage         stage
	message       string // message about the last key, until the next
	typed         string // the filter while it is typed

	mode    review.Mode
	others  bool
	view    viewport
	leafed  int // rows of the confirmation or the help that are scrolled out
	page    page
	asked   []piece // what the confirmation shows
	commit  *commit // the commit in progress, or nil
	written []review.Result
	failed  error // of the last commit

	interrupted bool // by ctrl+c
}

func newModel(ctx context.Context, d *review.Desk, colour bool) *model {
	return &model{ctx: ctx, desk: d, paint: painter(colour), mode: review.Unified, width: 80, height: 24}
}

// A commit is being written. Its result is valid once done is closed. The screen reads it, or
// Run if the reviewer left meanwhile.
type commit struct {
	done   chan struct{}
	result review.Result
	err    error
}

func (m *model) Init() tea.Cmd { return m.load() }

// repaintAfter is longer than a frame of the library.
const repaintAfter = 50 * time.Millisecond

// repaint redraws the whole screen one frame after a resize. The library forgets what its first
// frame wrote into new columns, and would leave that on the screen (ultraviolet,
// TerminalRenderer.Render).
func repaint() tea.Cmd {
	return tea.Tick(repaintAfter, func(time.Time) tea.Msg { return tea.ClearScreen() })
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, repaint()
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		if m.stage == filtering {
			m.typed += msg.Content
			m.desk.Filter(m.typed)
			return m, m.load()
		}
	case page:
		m.show(msg)
	case *commit:
		return m, m.settle()
	}
	return m, nil
}

// write commits what the confirmation shows.
func (m *model) write() tea.Cmd {
	m.stage = writing
	c := &commit{done: make(chan struct{})}
	m.commit = c
	changes := m.desk.Changes()
	go func() {
		defer close(c.done)
		c.result, c.err = m.desk.Write(m.ctx, changes)
	}()
	return func() tea.Msg { <-c.done; return c }
}

// settle ends the review if everything was written. Else the reviewer decides. If others decided
// meanwhile, a new confirmation is necessary, and a y that was typed before must not answer it.
func (m *model) settle() tea.Cmd {
	c := m.commit
	m.commit, m.stage = nil, confirming
	m.failed = c.err
	if c.err != nil {
		m.message = "not written: " + wording.Of(c.err)
		return nil
	}
	m.desk.Settle(c.result)
	if c.result.Stale {
		m.stage = browsing
		m.message = "nothing is written: others decided meanwhile; q shows what would be written now"
		return nil
	}
	m.written = append(m.written, c.result)
	return tea.Quit
}

// Streams are the streams of the terminal.
type Streams struct {
	In, Out *os.File
	Colour  bool
	Environ []string // K=V
}

// Run shows a review until the reviewer leaves, and returns what was written. It then restores
// the terminal. If a write failed before the reviewer left, Run returns the error, because a
// status line may not show all of it. The end of the context ends the review, and so does
// ctrl+c: Run stops a write in progress and waits for it.
func Run(ctx context.Context, d *review.Desk, s Streams) ([]review.Result, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(running, d, s.Colour)
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
