package terminal

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"muster/internal/wording"
	"muster/regress/internal/review"
)

// A stage is what the keys are for.
type stage int

const (
	browsing stage = iota
	filtering
	reading    // the help
	confirming // nothing is written before
	writing
)

// A model is all that the screen shows. One goroutine uses it: what takes time runs as a
// command and comes back as a message.
type model struct {
	ctx   context.Context
	desk  *review.Desk
	paint painter
	// editor is the command that opens both sides of a part; "" for none.
	editor string
	lend   func() (back func()) // as in Streams

	width, height int
	stage         stage
	message       string // of the last key, until the next
	notes         []string
	typed         string // the filter, while it is typed

	mode    review.Mode
	others  bool
	view    viewport
	leafed  int // rows of the confirmation or the help that are scrolled out
	pages   pages
	sheet   sheet
	commit  *commit // under way; nil for none
	written []review.Result
	failed  error // of the last commit

	interrupted bool // by ctrl+c
}

func newModel(ctx context.Context, d *review.Desk, colour bool) *model {
	return &model{ctx: ctx, desk: d, paint: painter(colour), mode: review.Unified, notes: d.Notes, width: 80, height: 24}
}

// looked is how things stand by now.
type looked struct {
	now review.Now
	err error
}

// A commit is being written. What came of it is there once done is closed: for the screen,
// or for Run where somebody left meanwhile.
type commit struct {
	done   chan struct{}
	result review.Result
	err    error
}

// lookSpacing is how often what others do is looked at.
const lookSpacing = time.Second

func (m *model) Init() tea.Cmd { return tea.Batch(m.load(), m.look()) }

func (m *model) look() tea.Cmd {
	return tea.Tick(lookSpacing, func(time.Time) tea.Msg {
		now, err := m.desk.Look(m.ctx)
		return looked{now, err}
	})
}

// repaintAfter is longer than a frame of the library's.
const repaintAfter = 50 * time.Millisecond

// repaint draws everything once more, a frame after the terminal was resized: the
// library does not remember what its first frame put into columns that are new, and would
// leave that on the screen when it changes (ultraviolet, TerminalRenderer.Render).
func repaint() tea.Cmd {
	return tea.Tick(repaintAfter, func(time.Time) tea.Msg { return tea.ClearScreen() })
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		if m.message == unread {
			m.message = ""
		}
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
		m.pages.put(msg)
	case looked:
		m.catchUp(msg)
		return m, m.look()
	case edited:
		if msg.err != nil {
			m.message = wording.Of(msg.err)
		}
	case *commit:
		return m, m.settle()
	}
	return m, nil
}

// catchUp takes note of what others did. Not while a confirmation is on the screen: what
// is written is what it says, and what contradicts is found when it is written.
func (m *model) catchUp(l looked) {
	if m.stage == confirming || m.stage == writing {
		return
	}
	if l.err != nil {
		m.notes = []string{wording.Of(l.err)}
		return
	}
	m.notes = l.now.Notes
	if fresh := m.desk.CatchUp(l.now); len(fresh) > 0 {
		m.message = contestedText(fresh[0])
	}
}

func contestedText(c review.Conflict) string {
	return c.ID + ": somebody else has " + verb(c.Theirs) + " it meanwhile, and you have it " + verb(c.Mine)
}

func verb(s review.State) string {
	if s == review.Undecided {
		return "taken back"
	}
	return string(s)
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

// settle leaves when all was written; else it is up to the reviewer. Where others decided
// otherwise it takes another confirmation: a y that was typed on must not be it.
func (m *model) settle() tea.Cmd {
	c := m.commit
	m.commit, m.stage = nil, confirming
	m.failed = c.err
	if c.err != nil {
		m.message = "not written: " + wording.Of(c.err)
		return nil
	}
	m.desk.Settle(c.result)
	if len(c.result.Conflicts) > 0 {
		m.stage = browsing
		m.message = "nothing is written: others decided otherwise meanwhile, see !; q shows what would be written over theirs"
		return nil
	}
	m.written = append(m.written, c.result)
	return tea.Quit
}
