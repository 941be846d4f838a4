// Package workflow writes for the runner of GitHub Actions. The runner reads both streams of a step, and
// obeys a line that looks like a command, whoever wrote it. The package writes commands, and text that
// cannot be one.
//
// It must not interpret the text.
package workflow

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Running reports whether a step of GitHub Actions has started this process.
func Running(getenv func(string) string) bool { return getenv("GITHUB_ACTIONS") == "true" }

// A Property is one named value of a command, such as the file of an annotation.
type Property struct{ Key, Value string }

// Command returns the line of a command. It leaves out properties without a value.
func Command(name string, properties []Property, message string) string {
	var b strings.Builder
	b.WriteString("::" + name)
	separator := " "
	for _, p := range properties {
		if p.Value != "" {
			b.WriteString(separator + p.Key + "=" + escapeProperty.Replace(p.Value))
			separator = ","
		}
	}
	b.WriteString("::" + escapeMessage.Replace(message) + "\n")
	return b.String()
}

var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Guard returns a writer that passes text to w without a line that the runner would obey. The runner has
// two forms of commands: "::" at the beginning of a line, after any blanks, and "##[" anywhere. Guard
// writes a ":" that begins a line as %3A, and the "[" as %5B, like the printed names of cases.
func Guard(w io.Writer) io.Writer { return &guard{w: w, bracket: "%5B", isLineStart: true} }

// GuardJSON is like Guard, for lines of JSON. It escapes the "[" as JSON does, so that the values stay
// the same.
func GuardJSON(w io.Writer) io.Writer { return &guard{w: w, bracket: `\u005b`, isLineStart: true} }

type guard struct {
	w           io.Writer
	bracket     string // replaces "["
	isLineStart bool   // the line has only blanks so far
	hashes      int    // number of "#" right before
}

// Write passes the text on in one write.
func (g *guard) Write(text []byte) (int, error) {
	var out bytes.Buffer
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == ':' && g.isLineStart:
			out.WriteString("%3A")
		case r == '[' && g.hashes >= 2:
			out.WriteString(g.bracket)
		default:
			out.Write(text[i : i+size])
		}
		g.follow(r)
		i += size
	}
	if _, err := g.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// follow notes what precedes the next character. A byte that is not UTF-8 may begin
// a blank that the next write completes.
func (g *guard) follow(r rune) {
	isBlank := unicode.IsSpace(r) || r == utf8.RuneError
	g.isLineStart = r == '\n' || r == '\r' || g.isLineStart && isBlank
	if g.hashes++; r != '#' {
		g.hashes = 0
	}
}
