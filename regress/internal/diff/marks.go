package diff

import "strings"

// A segment is a marked range of bytes.
type segment struct{ from, to int }

// A marker distributes the marked segments of a text over its lines, from the first line on.
type marker struct {
	segments []segment // of the text, in order
	at       int       // bytes before the next line
	next     int       // index of the next line
}

// newMarkers returns the markers of both sides of changes. Both lists of lines begin at from.
func newMarkers(changes []Change, oldFrom, nowFrom int) (old, now marker) {
	old.at, now.at = oldFrom, nowFrom
	for _, c := range changes {
		old.add(c.OldFrom, c.OldTo)
		now.add(c.NowFrom, c.NowTo)
	}
	return old, now
}

func (m *marker) add(from, to int) {
	if from < to {
		m.segments = append(m.segments, segment{from, to})
	}
}

// mark marks rows. They show the lines from index from on.
func (m *marker) mark(rows []row, lines []string, from int) {
	if len(m.segments) == 0 {
		return
	}
	m.at += bytesOf(lines[m.next:from])
	for i := range rows {
		rows[i].marked = m.within(lines[from+i])
		m.at += len(lines[from+i])
	}
	m.next = from + len(rows)
}

// within returns the segments of the line at m.at. It returns none for a line that is marked whole,
// because its sign shows that.
func (m *marker) within(line string) (marked []segment) {
	for len(m.segments) > 0 && m.segments[0].to <= m.at {
		m.segments = m.segments[1:]
	}
	at, isPart := 0, false
	for _, s := range m.segments {
		from, to := max(s.from-m.at, at), min(s.to-m.at, len(line))
		if from >= len(line) {
			break
		}
		if from < to {
			marked = append(marked, segment{from, to})
			isPart = isPart || strings.TrimSpace(line[at:from]) != ""
			at = to
		}
	}
	if !isPart && strings.TrimSpace(line[at:]) == "" {
		return nil
	}
	return marked
}

// isMarked reports whether the byte at i of the line is marked. It drops the segments before i.
func (r *row) isMarked(i int) bool {
	for len(r.marked) > 0 && r.marked[0].to <= i {
		r.marked = r.marked[1:]
	}
	return len(r.marked) > 0 && r.marked[0].from <= i
}
