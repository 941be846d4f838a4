package terminal

import (
	"fmt"
	"slices"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"muster/internal/wording"
	"muster/regress/internal/review"
)

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		m.interrupted = true
		return tea.Quit
	}
	switch m.stage {
	case filtering:
		return m.typing(k)
	case reading:
		m.leaf(k.String())
		return nil
	case confirming:
		return m.confirm(k.String())
	case writing:
		return nil
	}
	m.message = ""
	if m.decide(k.String()) || m.foldFamily(k.String()) || m.travel(k.String()) || m.arrange(k.String()) {
		return m.load()
	}
	return m.other(k.String())
}

// other handles the keys that lead to another stage.
func (m *model) other(key string) tea.Cmd {
	switch key {
	case "/":
		m.stage, m.typed = filtering, m.desk.Filtered()
	case "?":
		m.stage, m.leafed = reading, 0
	case "q", "enter":
		if err := m.desk.CatchUp(m.ctx); err != nil {
			m.message = wording.Of(err)
		}
		if m.desk.Changes().Empty() {
			if key == "q" {
				return tea.Quit
			}
			m.message = m.nothing()
			return nil
		}
		m.stage, m.leafed, m.asked = confirming, 0, m.confirmation()
		return m.load()
	case "esc":
		m.desk.Filter("")
		return m.load()
	default:
		m.message = key + " does nothing here: ? shows the keys"
	}
	return nil
}

// nothing explains why there is nothing to write.
func (m *model) nothing() string {
	if m.desk.Shut() != "" && m.desk.Golden != "" {
		return fmt.Sprintf("nothing to write: no case can go into the golden (%s); q leaves", m.desk.Shut())
	}
	return "nothing to write: a accepts, r rejects; q leaves"
}

func (m *model) decide(key string) bool {
	switch key {
	case "a":
		m.decideHere(review.Accepted)
	case "r":
		m.decideHere(review.Rejected)
	case "s":
		m.decideHere(review.Skipped)
	case "A":
		m.decideRest(review.Accepted)
	case "R":
		m.decideRest(review.Rejected)
	case "S":
		m.decideRest(review.Skipped)
	case "u":
		if !m.desk.Undo() {
			m.message = "nothing to undo"
		}
	default:
		return false
	}
	m.view = viewport{}
	return true
}

func (m *model) decideHere(s review.State) {
	switch n := m.desk.DecideHere(s); {
	case n == 0:
		m.message = "nothing passes the filter: esc removes it"
	case n > 1:
		m.message = fmt.Sprintf("%s of a family %s, u undoes it", m.desk.Count(n), s)
	}
}

func (m *model) decideRest(s review.State) {
	n := m.desk.DecideRest(s)
	m.message = fmt.Sprintf("%s %s, u undoes it", m.desk.Count(n), s)
	if n == 0 {
		m.message = "nothing is left to decide at once"
	}
}

// foldFamily handles the keys for families.
func (m *model) foldFamily(key string) bool {
	item, _, _ := m.desk.Cursor()
	defer func() {
		if now, _, _ := m.desk.Cursor(); now != item {
			m.view = viewport{}
		}
	}()
	switch {
	case key == "f" && !m.desk.Fold():
		m.message = "no other " + m.desk.Noun() + " here is of its family"
	case key == "F" && !m.desk.FoldAll():
		m.message = "there are no families"
	case key != "f" && key != "F":
		return false
	}
	return true
}

// travel handles the keys that move the cursor.
func (m *model) travel(key string) bool {
	d := m.desk
	_, place, _ := d.Cursor()
	switch key {
	case "down", "j":
		d.Move(1)
	case "up", "k":
		d.Move(-1)
	case "home", "g":
		d.MoveTo(0)
	case "end", "G":
		d.MoveTo(len(d.Visible()) - 1)
	case "n", "tab":
		d.MoveCase(1)
	case "p", "shift+tab":
		d.MoveCase(-1)
	default:
		return false
	}
	if _, now, _ := d.Cursor(); now != place || slices.Contains([]string{"n", "p", "tab", "shift+tab"}, key) {
		m.view = viewport{}
	}
	return true
}

// arrange handles the keys that change the layout.
func (m *model) arrange(key string) bool {
	rows := max(1, m.space().height-1)
	switch key {
	case "v":
		modes := review.Modes()
		m.mode = modes[(slices.Index(modes, m.mode)+1)%len(modes)]
		m.view = viewport{}
	case "o":
		m.others = !m.others
		m.view = viewport{}
	case "pgdown", "space", "ctrl+f":
		m.scroll(rows)
	case "pgup", "b", "ctrl+b":
		m.scroll(-rows)
	case "ctrl+d", "J":
		m.scroll((rows + 1) / 2)
	case "ctrl+u", "K":
		m.scroll(-(rows + 1) / 2)
	default:
		return false
	}
	return true
}

// typing handles the keys of the filter.
func (m *model) typing(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		m.stage = browsing
		return nil
	case "esc":
		m.stage, m.typed = browsing, ""
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(m.typed)
		m.typed = m.typed[:len(m.typed)-size]
	case "ctrl+u":
		m.typed = ""
	default:
		m.typed += k.Text
	}
	m.desk.Filter(m.typed)
	m.view = viewport{}
	return m.load()
}

func (m *model) confirm(key string) tea.Cmd {
	switch {
	case key == "q":
		return tea.Quit
	case key != "y":
		m.leaf(key)
	case m.desk.Changes().Empty():
		m.message = "there is nothing left to write"
	default:
		return m.write()
	}
	return nil
}

// leaf scrolls a page of text. Any other key goes back.
func (m *model) leaf(key string) {
	switch key {
	case "down", "j":
		m.leafed++
	case "up", "k":
		m.leafed = max(0, m.leafed-1)
	case "pgdown", "space":
		m.leafed += max(1, m.height-2)
	case "pgup", "b":
		m.leafed = max(0, m.leafed-max(1, m.height-2))
	default:
		m.stage, m.message = browsing, ""
	}
}
