package cause

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/cause/document"
	"muster/regress/internal/cause/edit"
	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
	"muster/regress/internal/outcome"
)

// endingPattern returns the pattern of a changed ending, or "".
func endingPattern(c *Case) string {
	switch {
	case c.Old == c.Now:
		return ""
	case c.Now.Partial():
		return pattern.Ends.Key(c.Now.String())
	case c.Now.Kind == regress.Signalled:
		return pattern.Ends.Key("crash" + messageSeparator + signalOf(c.Now) + lastDiagnostic(c.withoutName(c.NowMessages[max(0, len(c.NowMessages)-messageMax):])))
	case c.Old.Success():
		return pattern.Fails.Key(c.Now.String() + messageSeparator + firstDiagnostic(c.withoutName(ownLines(c.NowMessages, c.OldMessages))))
	case c.Now.Success():
		return pattern.Passes.Key(c.Old.String() + messageSeparator + firstDiagnostic(c.withoutName(ownLines(c.OldMessages, c.NowMessages))))
	}
	return pattern.Ends.Key(c.Old.String() + " → " + c.Now.String())
}

// A flip is a case in which the tool failed on one side only, or crashed. It is one cause more. What else differs has
// causes of its own, except the parts that differ because the tool failed.
type flip struct {
	*Case
	stopped bool // the tool stopped, as a compiler does: it left out a file, or lines of a text. A linter goes on
}

// flipOf returns the flip of a case, or nil if the case has none.
func flipOf(c *Case) *flip {
	if c.Old == c.Now || c.Now.Kind != regress.Signalled && !c.Old.Success() && !c.Now.Success() {
		return nil
	}
	f := &flip{Case: c}
	f.stopped = slices.ContainsFunc(c.Parts, func(p Part) bool {
		rest := f.cutOff(p)
		return bytes.Count(rest, newline) > 1 || p.Key.Place == outcome.File && len(rest) > 0 // one line may be "no errors"
	})
	return f
}

// cutOff returns what the side that failed left out at the end of a part. If that is diagnostics, the other side has found
// more.
func (f *flip) cutOff(p Part) []byte {
	failed, complete := f.sides(p)
	rest, isCut := bytes.CutPrefix(complete, failed)
	if !isCut || p.Key.Place != outcome.File && hasDiagnostics(rest) {
		return nil
	}
	return rest
}

// hasDiagnostics reports whether most lines of a text are diagnostics.
func hasDiagnostics(text []byte) bool {
	list, _, ok := document.ParseBoth(text, nil)
	return ok && list.Kind == document.Messages && len(diagnosticKinds(list, text)) > 0
}

var newline = []byte("\n")

// sides returns the text of the side that failed, and the other one.
func (f *flip) sides(p Part) (failed, complete []byte) {
	if f.Now.Success() {
		return p.OldText, p.NowText
	}
	return p.NowText, p.OldText
}

// explains reports whether a part differs only because the tool failed on one side. There it leaves the part out, or stops
// within it. Its messages are why it stopped. If the tool did not stop, messages are explained only if the other side is
// empty.
func (f *flip) explains(p Part) bool {
	if f == nil || p.Old == nil || p.Now == nil {
		return f != nil
	}
	failed, complete := f.sides(p)
	isCut := len(f.cutOff(p)) > 0
	isMessage := f.stopped && p.Key.Place != outcome.File || len(complete) == 0 && len(failed) > 0 && !f.isList(p)
	return p.Old.Form == p.Now.Form && (isCut || isMessage)
}

// explainsEdits reports whether a flip explains the edits of a part: if at most half of the smaller text is unchanged, it
// is a different text, such as "All checks passed" in place of errors.
func (f *flip) explainsEdits(p Part, e edit.Edits) bool {
	if f == nil || e.TooMany || f.isList(p) {
		return false
	}
	kept, at := 0, 0
	for _, q := range e.Places {
		kept, at = kept+countSigns(p.OldText[at:q.Old.From]), q.Old.To
	}
	kept += countSigns(p.OldText[at:])
	return 2*kept <= min(countSigns(p.OldText), countSigns(p.NowText))
}

// isList reports whether the differences of a part are those of a linter: the flip names one diagnostic of the side that
// failed, and that side has others, or the other side has some.
func (f *flip) isList(p Part) bool {
	old, now, ok := document.ParseBoth(p.OldText, p.NowText)
	if f.stopped || !ok || old.Kind != document.Messages {
		return false
	}
	complete, failed := diagnosticKinds(old, p.OldText), diagnosticKinds(now, p.NowText)
	if f.Now.Success() {
		complete, failed = failed, complete
	}
	return len(complete) > 0 || len(failed) > 1
}

// diagnosticKinds returns the messages of diagnostics, without what varies between places.
func diagnosticKinds(list *document.Node, text []byte) map[string]bool {
	kinds := map[string]bool{}
	for _, n := range list.Items {
		if m := n.Message(); len(n.Items) > 0 {
			kinds[normal(text[m.From:m.To])] = true
		}
	}
	return kinds
}

// countSigns counts the bytes that are not whitespace.
func countSigns(text []byte) (n int) {
	for _, c := range text {
		if !token.IsSpace(c) {
			n++
		}
	}
	return n
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

// ownLines returns the lines of one side's messages that the other side lacks, or all if it has each of them.
func ownLines(said, other []byte) (own []byte) {
	said, known := said[:min(len(said), messageMax)], map[string]bool{}
	for line := range bytes.Lines(other[:min(len(other), messageMax)]) {
		known[string(line)] = true
	}
	for line := range bytes.Lines(said) {
		if !known[string(line)] {
			own = append(own, line...)
		}
	}
	if len(bytes.TrimSpace(own)) == 0 {
		return said
	}
	return own
}

// withoutName returns messages with PATH in place of the name of the case, of its base name, and of either without its
// extension. The last two may be usual words, so they are replaced only at the start of a line, before a line
// number or punctuation.
func (c *Case) withoutName(said []byte) []byte {
	if c.Name == "" || len(said) == 0 {
		return said
	}
	said = colour.ReplaceAll(said, nil)
	var heads []string
	for _, n := range []string{c.Name, path.Base(c.Name)} {
		if strings.ContainsAny(n, "./ ") && somePath.FindString(n) != n { // else normal finds it
			said = bytes.ReplaceAll(said, []byte(n), []byte("PATH"))
		}
		heads = append(heads, regexp.QuoteMeta(n), regexp.QuoteMeta(strings.TrimSuffix(n, path.Ext(n))))
	}
	head := regexp.MustCompile(`(?m)^(\s*(?:[\w.+-]+: )?["'(\[]?)(?:` + strings.Join(heads, "|") + `)([:,()"'\]]|\s+\d|\s*$)`)
	return head.ReplaceAll(said, []byte("${1}PATH${2}"))
}

// lastDiagnostic returns the last message of a tool that crashed.
func lastDiagnostic(said []byte) string {
	lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))
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
	for line := range bytes.Lines(said) {
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
