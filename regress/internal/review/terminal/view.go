package terminal

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/mattn/go-runewidth"

	"muster/internal/readable"
	"muster/regress/internal/palette"
	"muster/regress/internal/review"
)

// A box is a part of the screen.
type box struct{ width, height int }

// split divides the screen.
type split struct {
	stacked     bool
	left, right box
}

// sideBySideMin is the narrowest screen with causes and difference side by side.
const sideBySideMin = 72

func (m *model) split() (s split) {
	rows := max(2, m.height-3) // the title, a message and the keys
	if m.width < sideBySideMin {
		top := max(1, min(rows/3, len(m.desk.Visible())))
		return split{true, box{m.width, top}, box{m.width, max(1, rows-top)}}
	}
	left := max(26, min(m.width*2/5, 46))
	return split{false, box{left, rows}, box{m.width - left - 1, rows}}
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.rows(), "\n"))
	v.AltScreen = true
	return v
}

func (m *model) rows() []string {
	var rows []string
	switch m.stage {
	case reading:
		rows = m.text(wrap(helpText(m.desk.Noun()), m.width), "any other key goes back")
	case confirming, writing:
		rows = m.confirmed()
	default:
		rows = append([]string{m.title()}, m.body()...)
		rows = append(rows, m.hint(), m.keys())
	}
	return rows[:min(len(rows), m.height)]
}

// confirmed shows the confirmation, or the progress of the write.
func (m *model) confirmed() []string {
	keys := "y writes   esc goes back   q leaves without writing"
	if m.stage == writing {
		keys = "writing …   ctrl+c stops it"
	}
	return m.text(wrap(m.asked, m.width), keys)
}

func (m *model) title() string {
	d := m.desk
	counts := d.Counts()
	text := d.Count(len(d.Items())) + ":"
	for _, s := range [...]review.State{review.Accepted, review.Rejected, review.Skipped} {
		if counts[s] > 0 {
			text += fmt.Sprintf(" %d %s,", counts[s], s)
		}
	}
	text += fmt.Sprintf(" %d to decide  run %s", counts[review.Undecided], d.Run)
	return m.row(text, palette.Bold)
}

// hint returns the row below the lists: a message, else the filter, else a note.
func (m *model) hint() string {
	text := ""
	switch {
	case m.stage == filtering:
		text = "filter: " + m.typed + "▏"
	case m.message != "":
		text = m.message
	case m.desk.Filtered() != "":
		text = fmt.Sprintf("filter: %s  %d of %d, esc removes it", m.desk.Filtered(), len(m.desk.Visible()), len(m.desk.Items()))
	case len(m.desk.Notes) > 0:
		text = "note: " + strings.Join(m.desk.Notes, "; ")
	}
	return m.row(text, palette.Yellow)
}

// row returns a row of the screen with a text.
func (m *model) row(text string, s palette.Style) string {
	return m.paint.fit([]piece{{text, s}}, m.width)
}

// keys returns the row that names keys, the most important first: a narrow screen cuts the others.
func (m *model) keys() string {
	if m.stage == filtering {
		return m.row("enter keeps the filter   esc removes it", palette.Dim)
	}
	return m.row("? help  q done  a accept  r reject  s skip  u undo  v form  n case  / filter", palette.Dim)
}

func (m *model) body() []string {
	s := m.split()
	left, right := m.list(s.left), m.pane(s.right)
	if s.stacked {
		return append(left, right...)
	}
	rows := make([]string, len(left))
	for i := range left {
		rows[i] = left[i] + m.paint.paint(palette.Dim, "│") + right[i]
	}
	return rows
}

// text shows a page of rows, and the keys below it.
func (m *model) text(lines []piece, keys string) []string {
	rows := max(1, m.height-2)
	m.leafed = max(0, min(m.leafed, len(lines)-rows))
	var shown []string
	for i := range rows {
		var line []piece
		if m.leafed+i < len(lines) {
			line = lines[m.leafed+i : m.leafed+i+1]
		}
		shown = append(shown, m.paint.fit(line, m.width))
	}
	if left := len(lines) - m.leafed - rows; left > 0 {
		keys = fmt.Sprintf("%s more below   %s", readable.Number(left), keys)
	}
	return append(shown, m.row(m.message, palette.Yellow), m.row(keys, palette.Dim))
}

// wrap breaks text that is longer than a row, between words if possible.
func wrap(lines []piece, width int) (wrapped []piece) {
	for _, l := range lines {
		l.text = safe(l.text)
		indent := ""
		for widths().StringWidth(l.text) > width {
			head := widths().Truncate(l.text, width, "")
			if i := strings.LastIndexByte(head, ' '); i > len(indent) && len(head) < len(l.text) && l.text[len(head)] != ' ' {
				head = head[:i]
			}
			if head == "" || len(head) <= len(indent) {
				break // a row without columns: the text is cut
			}
			wrapped = append(wrapped, piece{head, l.style})
			indent = strings.Repeat(" ", min(4, width/4))
			l.text = indent + strings.TrimLeft(l.text[len(head):], " ")
		}
		wrapped = append(wrapped, l)
	}
	return wrapped
}

// A painter styles text. If it is false it leaves out colours, and keeps the attributes without
// which the cursor's row and the changed stretches could not be seen.
type painter bool

func (p painter) paint(s palette.Style, text string) string {
	if !p {
		s = s.Colourless()
	}
	return s.Paint(text)
}

// A piece is text in one style.
type piece struct {
	text  string
	style palette.Style
}

// widths returns rules for the width of text that ignore the locale.
func widths() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// tabColumns is the distance of tab stops.
const tabColumns = 8

// safe removes everything from a text that could drive the terminal. All shown text passes
// through it.
func safe(text string) string { return strings.ReplaceAll(readable.Text(text), "\n", "‹LF›") }
