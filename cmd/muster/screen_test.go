package main_test

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// A screen emulates a terminal for programs that draw: it understands what xterm does with
// text, the cursor and erasing. What it does not understand is an error in err. It has no
// colours.
type screen struct {
	cells       [][]string // by row and column; "" right of a wide character
	row, column int
	wrap        bool // the last column was written, so the next character begins a row
	other       bool // on the alternate screen
	hidden      bool // the cursor
	top, bottom int  // rows [top, bottom) scroll
	main        [][]string
	last        string
	pending     []byte // an incomplete escape sequence or character
	err         error
}

func newScreen(columns, rows int) *screen {
	s := &screen{}
	s.resize(columns, rows)
	return s
}

func (s *screen) resize(columns, rows int) {
	s.cells, s.main = fitted(s.cells, columns, rows), fitted(s.main, columns, rows)
	s.row, s.column = min(s.row, rows-1), min(s.column, columns-1)
	s.top, s.bottom = 0, rows
}

func fitted(old [][]string, columns, rows int) [][]string {
	cells := blank(columns, rows)
	for i := range min(rows, len(old)) {
		copy(cells[i], old[i])
	}
	return cells
}

func blank(columns, rows int) [][]string {
	cells := make([][]string, rows)
	for i := range cells {
		cells[i] = make([]string, columns)
		for j := range cells[i] {
			cells[i][j] = " "
		}
	}
	return cells
}

// String returns the visible text.
func (s *screen) String() string {
	var b strings.Builder
	for _, row := range s.cells {
		b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	return b.String()
}

// Write takes the program's output.
func (s *screen) Write(b []byte) (int, error) {
	text := append(s.pending, b...)
	for len(text) > 0 {
		n := s.take(text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	s.pending = append([]byte{}, text...)
	return len(b), nil
}

// take processes the beginning of a text, and returns its length, or 0 if the rest must come
// first.
func (s *screen) take(text []byte) int {
	if text[0] == 0x1b {
		return s.escape(text)
	}
	if !utf8.FullRune(text) {
		return 0
	}
	r, size := utf8.DecodeRune(text)
	switch {
	case r == '\r':
		s.to(s.row, 0)
	case r == '\n':
		s.down()
	case r == '\b':
		s.to(s.row, s.column-1)
	case r == '\t':
		s.to(s.row, (s.column/8+1)*8)
	case r == 7:
	case r < ' ' || r == 0x7f || r == utf8.RuneError && size == 1:
		s.err = fmt.Errorf("%q is sent as it is", text[:size])
	default:
		s.put(string(r), runewidth.RuneWidth(r))
	}
	return size
}

func (s *screen) to(row, column int) {
	s.row, s.column = max(0, min(row, len(s.cells)-1)), max(0, min(column, len(s.cells[0])-1))
	s.wrap = false
}

func (s *screen) down() {
	if s.row == s.bottom-1 {
		s.scroll(s.top, s.bottom, 1)
		return
	}
	s.to(s.row+1, s.column)
}

// scroll moves rows up, or down by a negative number.
func (s *screen) scroll(from, to, by int) {
	if from >= to {
		return
	}
	for range max(by, -by) {
		empty := blank(len(s.cells[0]), 1)[0]
		if by > 0 {
			copy(s.cells[from:to], s.cells[from+1:to])
			s.cells[to-1] = empty
		} else {
			copy(s.cells[from+1:to], s.cells[from:to-1])
			s.cells[from] = empty
		}
	}
}

func (s *screen) put(text string, width int) {
	if width == 0 {
		if s.column > 0 {
			s.cells[s.row][s.column-1] += text
		}
		return
	}
	if s.wrap {
		s.column = 0
		s.down()
		s.wrap = false
	}
	s.last = text
	row := s.cells[s.row]
	row[s.column] = text
	if width == 2 && s.column+1 < len(row) {
		row[s.column+1] = ""
	}
	if s.column += width; s.column >= len(row) {
		s.column, s.wrap = len(row)-1, true
	}
}

// escape processes an escape sequence.
func (s *screen) escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '[':
		for i, c := range text[2:] {
			if c >= 0x40 && c <= 0x7e {
				s.control(string(text[2:2+i]), c)
				return i + 3
			}
		}
		return 0
	case ']', 'P', '_':
		end := strings.IndexAny(string(text), "\a")
		if st := strings.Index(string(text[2:]), "\x1b\\"); st >= 0 && (end < 0 || st+3 < end) {
			end = st + 3
		}
		return end + 1
	case 'M':
		if s.row == s.top {
			s.scroll(s.top, s.bottom, -1)
		} else {
			s.to(s.row-1, s.column)
		}
	case '(', ')':
		if len(text) < 3 {
			return 0
		}
		return 3
	case '=', '>', '7', '8':
	default:
		s.err = fmt.Errorf("%q is not understood", text[:2])
	}
	return 2
}

// control processes a control sequence.
func (s *screen) control(parameters string, final byte) {
	if strings.ContainsAny(parameters, "?>=<$ ") {
		s.mode(parameters, final)
		return
	}
	var n [2]int
	for i, p := range strings.SplitN(parameters, ";", 3)[:min(2, 1+strings.Count(parameters, ";"))] {
		n[i], _ = strconv.Atoi(p)
	}
	one := max(1, n[0])
	row := s.cells[s.row]
	switch final {
	case 'A':
		s.to(s.row-one, s.column)
	case 'B', 'e':
		s.to(s.row+one, s.column)
	case 'C', 'a':
		s.to(s.row, s.column+one)
	case 'D':
		s.to(s.row, s.column-one)
	case 'E':
		s.to(s.row+one, 0)
	case 'F':
		s.to(s.row-one, 0)
	case 'G', '`':
		s.to(s.row, one-1)
	case 'd':
		s.to(one-1, s.column)
	case 'H', 'f':
		s.to(one-1, max(1, n[1])-1)
	case 'I':
		s.to(s.row, (s.column/8+one)*8)
	case 'Z':
		s.to(s.row, (s.column-1)/8*8-(one-1)*8)
	case 'J':
		s.erase(n[0], s.row*len(row)+s.column, 0, len(s.cells)*len(row))
	case 'K':
		s.erase(n[0], s.row*len(row)+s.column, s.row*len(row), (s.row+1)*len(row))
	case 'X':
		s.fill(s.row*len(row)+s.column, s.row*len(row)+min(len(row), s.column+one))
	case 'P':
		copy(row[s.column:], row[min(len(row), s.column+one):])
		s.fill((s.row+1)*len(row)-min(one, len(row)-s.column), (s.row+1)*len(row))
	case '@':
		copy(row[min(len(row), s.column+one):], row[s.column:])
		s.fill(s.row*len(row)+s.column, s.row*len(row)+min(len(row), s.column+one))
	case 'L':
		s.scroll(s.row, max(s.row, s.bottom), -one)
	case 'M':
		s.scroll(s.row, max(s.row, s.bottom), one)
	case 'S':
		s.scroll(s.top, s.bottom, one)
	case 'T':
		s.scroll(s.top, s.bottom, -one)
	case 'b':
		for range one {
			s.put(s.last, runewidth.StringWidth(s.last))
		}
	case 'm', 'n', 'c', 'q', 't', 'u':
	case 'r':
		s.top, s.bottom = one-1, len(s.cells)
		if n[1] > 0 {
			s.bottom = min(n[1], len(s.cells))
		}
		s.to(0, 0)
	default:
		s.err = fmt.Errorf("the sequence %q%c is not understood", parameters, final)
	}
}

// erase clears from the cursor to the end (0), from the beginning (1), or all (2).
func (s *screen) erase(what, cursor, from, to int) {
	switch what {
	case 0:
		from = cursor
	case 1:
		to = cursor + 1
	}
	s.fill(from, to)
}

func (s *screen) fill(from, to int) {
	columns := len(s.cells[0])
	for i := from; i < to; i++ {
		s.cells[i/columns][i%columns] = " "
	}
}

func (s *screen) mode(parameters string, final byte) {
	for _, p := range strings.Split(strings.TrimPrefix(parameters, "?"), ";") {
		switch {
		case p == "1049" && (final == 'h') != s.other:
			s.other = final == 'h'
			if s.other {
				s.main, s.cells = s.cells, blank(len(s.cells[0]), len(s.cells))
			} else {
				s.cells = s.main
			}
		case p == "25":
			s.hidden = final == 'l'
		}
	}
}
