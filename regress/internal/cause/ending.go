package cause

import (
	"bytes"
	"regexp"
	"strings"

	"muster/regress/internal/outcome"
)

// ending returns the pattern of how a case ended otherwise, empty for as before; broken
// says that this explains whatever differs in its parts.
func ending(c Case) (pattern string, broken bool) {
	switch {
	case c.Old == c.Now:
		return "", false
	case c.Now.Partial():
		return sortEnds.key(c.Now.String()), true
	case c.Now.Kind == outcome.Signalled:
		return sortEnds.key("crash" + thenSaid + signalOf(c.Now) + lastOf(c.NowSaid)), true
	case c.Old.Success():
		return sortFails.key(c.Now.String() + thenSaid + clause(c.NowSaid)), true
	case c.Now.Success():
		return sortPasses.key(c.Old.String() + thenSaid + clause(c.OldSaid)), true
	case c.Old.Partial():
		return sortEnds.key(c.Old.String() + " → " + c.Now.String()), true
	}
	return sortEnds.key(c.Old.String() + " → " + c.Now.String()), false
}

// thenSaid is in the keys of endings between how a case ended and what was said.
const thenSaid = ": "

// howEnded returns from the rest of such a key how the case ended.
func howEnded(rest string) string {
	how, _, _ := strings.Cut(rest, thenSaid)
	return how
}

func signalOf(e outcome.Ending) string {
	_, name, found := strings.Cut(strings.TrimSuffix(e.String(), ")"), "(")
	if !found {
		return e.String()
	}
	return name
}

// lastOf is what a tool said last before it crashed.
func lastOf(said []byte) string {
	lines := bytes.Split(bytes.TrimSpace(said[max(0, len(said)-saidMax):]), newline)
	for i := len(lines) - 1; i >= 0; i-- {
		if diagnostic.Match(lines[i]) {
			if s := normal(lines[i]); s != "" {
				return ": " + s
			}
		}
	}
	return ""
}

const (
	saidMax   = 64 << 10 // bytes of what a tool said that are looked at
	clauseMax = 120
)

var diagnostic = regexp.MustCompile(`(?i)\b(error|fatal|panic|assert|assertion|abort|aborted|failed|failure|undefined|unexpected|cannot|can't|could not|invalid|illegal|internal|bug|exception|traceback|unknown|undeclared|expected|not found|no such|missing|unsupported|overflow|segmentation|unreachable|out of|denied|refused)\b|Error\b|Exception\b`)

// clause returns the first line with a word of a diagnostic, else the first one, without
// what differs from place to place.
func clause(said []byte) string {
	said = said[:min(len(said), saidMax)]
	first := ""
	for line := range bytes.Lines(said) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || bytes.HasPrefix(line, []byte("Traceback ")) {
			continue
		}
		if diagnostic.Match(line) {
			return normal(line)
		}
		if first == "" {
			first = normal(line)
		}
	}
	if first == "" {
		return "nothing said"
	}
	return first
}

var (
	colour     = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	clockTime  = regexp.MustCompile(`\b(\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d:\d\d(\.\d+)?Z?\b`)
	hexNumber  = regexp.MustCompile(`\b0x[0-9a-fA-F]+\b|\b[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]*\d[0-9a-f]*\b`)
	somePath   = regexp.MustCompile(`(^|[\s("'=<\[])(?:[A-Za-z]:)?[\w.@+~-]*(?:/[\w.@+~-]+)+/?|(^|[\s("'])[\w+-]+\.[A-Za-z]\w{0,5}\b`)
	lineColumn = regexp.MustCompile(`:\d+(:\d+)?(-\d+(:\d+)?)?|\(\d+(,\d+)?\)|\b[Ll]ine \d+(, column \d+)?|^\d+(:\d+)+|\(\.\w+\+0x[0-9a-f]+\)`)
	quote      = regexp.MustCompile("\"[^\"]*\"|`[^`'\"]*[`']|'[^']*'|‘[^’]*’|“[^”]*”|«[^»]*»")
	someDigits = regexp.MustCompile(`\d+(\.\d+)?`)
	keyword    = regexp.MustCompile(`^(?:[^\w\s]{1,3}|if|else|for|while|do|return|switch|case|break|continue|goto|int|char|void|long|short|float|double|unsigned|signed|struct|union|enum|const|static|extern|import|export|from|class|function|func|var|let|type|package|interface|def|end|begin|then|fn|new|this|self|null|nil|true|false|yield|await|async|default|throw|try|catch|in|of|is|not|and|or|EOF)$`)
	headClause = regexp.MustCompile(`^.*?(?:; |\. |, but | \(|\[-W|$)`)
)

// normal returns a line of a diagnostic without what differs from place to place.
func normal(line []byte) string {
	s := strings.ToValidUTF8(string(colour.ReplaceAll(line[:min(len(line), 4<<10)], nil)), "?")
	s = clockTime.ReplaceAllString(s, "TIME")
	s = quote.ReplaceAllStringFunc(s, func(q string) string {
		r := []rune(q)
		if keyword.MatchString(string(r[1 : len(r)-1])) {
			return q
		}
		return "STR"
	})
	s = somePath.ReplaceAllString(s, "${1}${2}PATH")
	s = lineColumn.ReplaceAllString(s, "")
	s = hexNumber.ReplaceAllString(s, "HEX")
	s = someDigits.ReplaceAllString(s, "N")
	s = strings.Trim(strings.Join(strings.Fields(s), " "), " :^~|")
	for _, place := range []string{"PATH:", "PATHN", "PATH", ":"} {
		s = strings.TrimSpace(strings.TrimPrefix(s, place))
	}
	if head := strings.TrimSpace(headClause.FindString(s)); len(head) > 8 {
		s = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(head, ";"), "("), ".")
	}
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > clauseMax {
		s = string(r[:clauseMax]) + "…"
	}
	return s
}
