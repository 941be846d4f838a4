package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A screen is as much of a terminal as the progress line needs: it shows text,
// and lets a line be written again. Anything else is an error: nothing else may be sent.
type screen struct {
	lines    []string
	row      int
	drawn    []string // every state of the last line that went through
	err      error
	sequence strings.Builder // of an escape sequence under way
}

func (s *screen) Write(b []byte) (int, error) {
	text := string(b)
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == utf8.RuneError:
			s.err = fmt.Errorf("damaged UTF-8 in %q", b)
		case s.sequence.Len() > 0 || r == '\x1b':
			s.sequence.WriteRune(r)
			s.escape(r)
		case r == '\n':
			s.row++
		case r == '\r': // what follows replaces the whole line
			s.put('\r')
			s.lines[s.row] = ""
		default:
			s.put(r)
		}
	}
	if n := len(s.lines); n > 0 && (len(s.drawn) == 0 || s.drawn[len(s.drawn)-1] != s.lines[n-1]) {
		s.drawn = append(s.drawn, s.lines[n-1])
	}
	return len(b), nil
}

func (s *screen) put(r rune) {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, "")
	}
	s.lines[s.row] += string(r)
}

// escape acts on a sequence once its last character is there.
func (s *screen) escape(last rune) {
	sequence := s.sequence.String()
	if last == '\x1b' || last == '[' || last == ';' || last >= '0' && last <= '9' {
		return
	}
	s.sequence.Reset()
	if last != 'm' && sequence != eraseRight { // not a colour
		s.err = fmt.Errorf("unexpected sequence %q", sequence)
	}
}

func (s *screen) String() string { return strings.Join(s.lines, "\n") }
