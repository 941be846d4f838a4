package report

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/palette"
)

// label names the present work: "check", "retry", "record, second run".
func (t *tally) label() string {
	switch {
	case t.pass <= 1:
		return t.command
	case t.command == regress.RecordCommand:
		return t.command + ", " + ordinal(t.pass) + " run"
	case t.costs:
		return "cost"
	}
	return "retry"
}

func (t *tally) position() string { return readable.Number(t.done) + "/" + readable.Number(t.total) }

func (t *tally) eta(now time.Time, perSecond float64) string {
	if left, ok := t.remaining(now, perSecond); ok {
		// rounded up to seconds, because an estimate is not more precise
		return "ETA " + readable.WholeSeconds((left + time.Second - 1).Truncate(time.Second))
	}
	return "ETA –"
}

func (t *tally) differing() string {
	if t.command == regress.RecordCommand {
		return readable.Number(t.differs) + " flaky"
	}
	return readable.Number(t.differs) + " differ"
}

const fieldGap = "  "

// line returns the progress line of at most columns columns. Fields that do not fit are dropped
// from the right. The name of the longest run is shortened first.
func (t *tally) line(now time.Time, columns int, p palette.Painter) string {
	perSecond, cores := t.rate(now)
	busy := "– cores busy"
	if cores > 0 {
		busy = strconv.FormatFloat(cores, 'f', 2, 64) + " cores busy"
	}
	l := lineBuilder{room: columns}
	l.add(t.label(), p, palette.Bold)
	if doing := t.engine.doing(now); doing != "" {
		l.add(shorten(doing, max(l.room-len(fieldGap), nameColumnsMin)), p, "")
		return l.b.String()
	}
	if t.engine.known {
		busy = t.engine.flight(t.total - t.done)
	}
	l.add(t.position(), p, "")
	l.add(readable.Rate(perSecond), p, "")
	l.add(busy, p, "")
	l.add(t.eta(now, perSecond), p, "")
	if share := t.engine.share(); share != "" {
		l.add(share, p, "")
	}
	if t.differs > 0 {
		l.add(t.differing(), p, palette.Yellow)
	}
	if longest, since, ok := t.longest(now); ok {
		l.addNamed("longest ", name.Print(longest), " "+readable.Duration(now.Sub(since)))
	}
	return l.b.String()
}

// A lineBuilder puts fields side by side while they fit.
type lineBuilder struct {
	b    strings.Builder
	room int
	full bool
}

func (l *lineBuilder) add(text string, p palette.Painter, c palette.Style) {
	gap := fieldGap
	if l.b.Len() == 0 {
		gap = ""
	}
	width := textColumns(gap + text)
	if l.full = l.full || width > l.room; l.full {
		return
	}
	l.room -= width
	l.b.WriteString(gap + p.Paint(c, text))
}

// nameColumnsMin is the shortest name that still means something.
const nameColumnsMin = 10

func (l *lineBuilder) addNamed(before, name, after string) {
	room := l.room - textColumns(fieldGap+before+after)
	if textColumns(name) > room && room < nameColumnsMin {
		l.full = true
		return
	}
	l.add(before+shorten(name, room)+after, false, "")
}

// shorten cuts a name in the middle to at most columns columns: its folder and its end say
// most.
func shorten(name string, columns int) string {
	if textColumns(name) <= columns {
		return name
	}
	const gap = "…"
	tail := len(name)
	room := (columns - 1) * 2 / 3
	for {
		r, size := utf8.DecodeLastRuneInString(name[:tail])
		if room -= textColumns(string(r)); room < 0 {
			break
		}
		tail -= size
	}
	head := 0
	room = columns - 1 - textColumns(name[tail:])
	for {
		r, size := utf8.DecodeRuneInString(name[head:])
		if room -= textColumns(string(r)); room < 0 {
			break
		}
		head += size
	}
	return name[:head] + gap + name[tail:]
}

// textColumns returns the width of text on a terminal. It counts only characters that are wide
// in every locale as wide.
func textColumns(text string) int {
	return (&runewidth.Condition{StrictEmojiNeutral: true}).StringWidth(text)
}
