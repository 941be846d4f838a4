package cause

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"muster/regress"
	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// endingPattern returns the pattern of a changed ending, or "". broken reports that the ending
// explains all differences of the parts.
func endingPattern(c Case) (key string, broken bool) {
	switch {
	case c.Old == c.Now:
		return "", false
	case c.Now.Partial():
		return pattern.Ends.Key(c.Now.String()), true
	case c.Now.Kind == regress.Signalled:
		return pattern.Ends.Key("crash" + messageSeparator + signalOf(c.Now) + lastDiagnostic(c.NowMessages)), true
	case c.Old.Success():
		return pattern.Fails.Key(c.Now.String() + messageSeparator + firstDiagnostic(c.NowMessages)), true
	case c.Now.Success():
		return pattern.Passes.Key(c.Old.String() + messageSeparator + firstDiagnostic(c.OldMessages)), true
	}
	return pattern.Ends.Key(c.Old.String() + " → " + c.Now.String()), c.Old.Partial()
}

// messageSeparator separates the ending from the tool's message in a key.
const messageSeparator = ": "

// howEnded returns the ending from the rest of such a key.
func howEnded(rest string) string {
	how, _, _ := strings.Cut(rest, messageSeparator)
	return how
}

func signalOf(e regress.Ending) string {
	_, name, found := strings.Cut(strings.TrimSuffix(e.String(), ")"), "(")
	if !found {
		return e.String()
	}
	return name
}

// lastDiagnostic returns the last message of a tool that crashed.
func lastDiagnostic(said []byte) string {
	lines := bytes.Split(bytes.TrimSpace(said[max(0, len(said)-messageMax):]), []byte("\n"))
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
	messageMax = 64 << 10 // bytes of a tool's messages that are read
	clauseMax  = 120
)

var diagnostic = regexp.MustCompile(`(?i)\b(error|fatal|panic|assert|assertion|abort|aborted|failed|failure|undefined|unexpected|cannot|can't|could not|invalid|illegal|internal|bug|exception|traceback|unknown|undeclared|expected|not found|no such|missing|unsupported|overflow|segmentation|unreachable|out of|denied|refused)\b|Error\b|Exception\b`)

// firstDiagnostic returns the first line that says an error, without what varies between places. If
// none does, it returns the first warning, or else the first line.
func firstDiagnostic(said []byte) string {
	first, firstWarning, inUsage := "", "", false
	for line := range bytes.Lines(said[:min(len(said), messageMax)]) {
		inUsage = usage.Match(line) || inUsage && (token.IsSpace(line[0]) || bytes.HasSuffix(bytes.TrimSpace(line), []byte(":")))
		line = bytes.TrimSpace(line)
		if inUsage || len(line) == 0 || advice.Match(line) {
			continue
		}
		switch {
		case warning.Match(line):
			firstWarning = cmp.Or(firstWarning, normal(line))
		case diagnostic.Match(line):
			return normal(line)
		}
		first = cmp.Or(first, normal(line))
	}
	return cmp.Or(firstWarning, first, "nothing said")
}

// A tool may say how to call it before or after its error.
var (
	usage   = regexp.MustCompile(`^(?i)\s*usage\b`)
	advice  = regexp.MustCompile(`^(?i)(traceback |try ['"\x60]|(for more information|run|see|use) .*--?help|-{1,2}[a-z])`)
	warning = regexp.MustCompile(`(?i)\b(warning|note|info|hint)\b:`)
)

var (
	colour     = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	clockTime  = regexp.MustCompile(`\b(\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d:\d\d(\.\d+)?Z?\b`)
	hexNumber  = regexp.MustCompile(`\b0x[0-9a-fA-F]+\b|\b[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]*\d[0-9a-f]*\b`)
	somePath   = regexp.MustCompile(`(^|[\s("'=<\[])(?:[A-Za-z]:)?[\w.@+~-]*(?:/[\w.@+~-]+)+/?|(^|[\s("'])[\w+-]+\.[A-Za-z]\w{0,5}\b`)
	lineColumn = regexp.MustCompile(`:\d+(:\d+)?(-\d+(:\d+)?)?|\(\d+(,\d+)?\)|\b[Ll]ine \d+(, column \d+)?|^\d+(:\d+)+|\(\.\w+\+0x[0-9a-f]+\)`)
	quote      = regexp.MustCompile("\"[^\"]*\"|`[^`'\"]*[`']|'[^']*'|‘[^’]*’|“[^”]*”|«[^»]*»")
	someDigits = regexp.MustCompile(`\d+(\.\d+)?`)
	keyword    = regexp.MustCompile(`^(?:[^\w\s]{1,3}|if|else|for|while|do|return|switch|case|break|continue|goto|int|char|void|long|short|float|double|unsigned|signed|struct|union|enum|const|static|extern|import|export|from|class|function|func|var|let|type|package|interface|def|end|begin|then|fn|new|this|self|null|nil|true|false|yield|await|async|default|throw|try|catch|in|of|is|not|and|or|EOF)$`)
	headClause = regexp.MustCompile(`^(.*?)(?:; |\. |, but | \(| ?\[-W|$)`)
	apostrophe = regexp.MustCompile(`(\w)'(\w)`)
)

// normal returns a diagnostic line without what varies between places: times, paths, numbers.
func normal(line []byte) string {
	s := strings.ToValidUTF8(string(colour.ReplaceAll(line[:min(len(line), 4<<10)], nil)), "?")
	s = clockTime.ReplaceAllString(s, "TIME")
	const noQuote = "\ue000" // a private character
	s = apostrophe.ReplaceAllString(s, "${1}"+noQuote+"${2}")
	s = quote.ReplaceAllStringFunc(s, func(q string) string {
		r := []rune(q)
		if keyword.MatchString(string(r[1 : len(r)-1])) {
			return q
		}
		return "STR"
	})
	s = strings.ReplaceAll(s, noQuote, "'")
	s = somePath.ReplaceAllString(s, "${1}${2}PATH")
	s = lineColumn.ReplaceAllString(s, "")
	s = hexNumber.ReplaceAllString(s, "HEX")
	s = someDigits.ReplaceAllString(s, "N")
	s = strings.Trim(strings.Join(strings.Fields(s), " "), " :^~|")
	for _, place := range []string{"PATH:", "PATHN", "PATH", ":"} {
		s = strings.TrimSpace(strings.TrimPrefix(s, place))
	}
	if head := headClause.FindStringSubmatch(s); len(head[1]) > 8 {
		s = strings.TrimSpace(head[1])
	}
	if r := []rune(s); len(r) > clauseMax {
		s = string(r[:clauseMax]) + "…"
	}
	return s
}
