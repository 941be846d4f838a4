package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/report/pending"
)

// MarkdownMark is at the beginning of every file of NewMarkdown.
const MarkdownMark = "<!-- muster report -->"

// Bounds of a summary. GitHub allows a step summary 1 MiB, and people read far less.
const (
	markdownBytesMax  = 64 << 10
	markdownTailBytes = 8 << 10 // of these, bytes for the end
	markdownNextBytes = 4 << 10 // of these, bytes for commands
	markdownCausesMax = 30      // causes in the table
	markdownDiffsMax  = 10      // excerpts, or cases if there are no causes
	markdownCasesMax  = 20      // cases that are named for each verdict but changed
	markdownNotesMax  = 10
	cellBytesMax      = 200
)

// NewMarkdown returns a Reporter that writes a short Markdown file to path once the run is
// Finished, for the summary of a CI step. Until then, and if the run breaks off, an earlier
// file stays.
func NewMarkdown(path string) (Reporter, error) {
	to, err := pending.New("--markdown", path)
	if err != nil {
		return nil, err
	}
	return NewMarkdownTo(func(text string) error {
		return to.Replace(func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}), nil
}

// NewMarkdownTo returns a Reporter that passes the same text to write, once the run is Finished.
func NewMarkdownTo(write func(text string) error) Reporter {
	return &markdown{write: write}
}

// markdown collects only what it will show.
type markdown struct {
	write    func(text string) error
	started  Started
	warnings []string
	changed  []Case                      // the first cases
	others   [regress.Identical][]string // the first cases by verdict, in Markdown
	groups   []Group
	all      int // the first causes
	count    CauseCount
	costs    *Cost
}

func (m *markdown) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Started:
		*m = markdown{write: m.write, warnings: m.warnings, started: ev}
	case Note:
		if ev.Warning && len(m.warnings) < markdownNotesMax {
			m.warnings = append(m.warnings, ev.Text)
		}
	case Case:
		m.addCase(ev)
	case Group:
		m.all++
		m.count.add(&ev.Cause)
		if len(m.groups) < markdownCausesMax {
			ev.Members = nil
			m.groups = append(m.groups, ev)
		}
	case Cost:
		m.costs = &ev
	case Finished:
		return m.write(m.text(ev.Summary))
	}
	return nil
}

func (m *markdown) Close() error { return nil }

func (m *markdown) addCase(c Case) {
	if c.Verdict == regress.Identical {
		return
	}
	if worthWhole(c) && len(m.changed) < markdownDiffsMax {
		m.changed = append(m.changed, c)
	}
	if c.Verdict != regress.Changed && len(m.others[c.Verdict]) < markdownCasesMax {
		m.others[c.Verdict] = append(m.others[c.Verdict], strings.TrimSpace(literal(name.Print(c.Name))+" "+inline(EngineWords(c.Engine))))
	}
}

func (m *markdown) text(s regress.Summary) string {
	b := &boundedMarkdown{room: markdownBytesMax - markdownTailBytes}
	title, _ := ended(s)
	b.add(MarkdownMark + "\n## muster " + inline(s.Command) + ": " + inline(title) + "\n\n")
	m.subject(b)
	for _, w := range m.warnings {
		if slices.Contains(s.Settings, w) {
			continue // a remark below explains it
		}
		b.add("> **Warning:** " + inline(w) + "\n\n")
	}
	b.add("| cases | |\n| ---: | --- |\n")
	for _, c := range countsOf(s) {
		if c.n > 0 {
			b.add("| " + readable.Number(c.n) + " | " + inline(c.what) + " |\n")
		}
	}
	b.add("\n")
	for _, r := range remarks(s, namedShort) {
		b.add(inline(r.line) + "\n\n")
	}
	paragraph(b, "cost: ", costLines(m.costs, false, false))
	if s.Engine != nil {
		paragraph(b, "engine: ", engineLines(s.Engine))
	}
	m.causes(b, s)
	m.differences(b, s)
	m.writeNamed(b, s)
	return b.String() + m.tail(s, b.left)
}

func (m *markdown) subject(b *boundedMarkdown) {
	var words []string
	for _, w := range []struct{ lead, text string }{
		{"", m.started.Tool}, {"against ", m.started.Against}, {"over ", m.started.Corpus},
	} {
		if w.text != "" {
			words = append(words, w.lead+whole(w.text))
		}
	}
	if words != nil {
		b.add(strings.Join(words, " ") + "\n\n")
	}
}

// paragraph adds lines in the words of the terminal report.
func paragraph(b *boundedMarkdown, lead string, lines []string) {
	if lines == nil {
		return
	}
	for i, line := range lines {
		lines[i] = inline(line)
	}
	b.add(lead + strings.Join(lines, "<br>\n") + "\n\n")
}

// causes returns a table of the causes.
func (m *markdown) causes(b *boundedMarkdown, s regress.Summary) {
	if m.all == 0 {
		return
	}
	b.add("### " + m.count.String() + "\n\n| | what changed | cases | lines | with nothing else | example | smallest |\n| --- | --- | ---: | ---: | ---: | --- | --- |\n")
	for i, g := range m.groups {
		row := fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |\n", inline(g.ID), literal(g.Name), readable.Number(g.Cases), readable.Number(g.Lines),
			readable.Number(g.Sole), literal(name.Print(g.Example)), literal(name.Print(g.Smallest)))
		if !b.add(row) {
			m.groups = m.groups[:i]
			break
		}
	}
	b.add("\n")
	if more := m.all - len(m.groups); more > 0 {
		b.add("… and " + readable.Count(more, "row") + " more: `" + allCauses(s) + "`\n\n")
	}
}

// differences returns an excerpt of each of the first causes, or the first cases if there are
// no causes.
func (m *markdown) differences(b *boundedMarkdown, s regress.Summary) {
	for i, g := range m.groups {
		if i == markdownDiffsMax {
			break
		}
		if g.Excerpt != "" {
			b.add(folded(inline(g.ID)+" "+literal(g.Name)+", "+readable.Count(g.Cases, "case"), "In "+literal(name.Print(g.Example))+":\n\n"+fenced(g.Excerpt)))
		}
	}
	if m.all > 0 {
		return
	}
	for _, c := range m.changed {
		var parts strings.Builder
		for _, d := range c.Differences {
			parts.WriteString(literal(name.Print(d.Part)) + " " + inline(oldToNow(d)+remarkOn(d)) + "\n\n")
			if d.Diff != "" {
				parts.WriteString(fenced(d.Diff))
			}
		}
		b.add(folded(strings.TrimSpace(c.Verdict.String()+" "+literal(name.Print(c.Name))+" "+inline(EngineWords(c.Engine))), parts.String()))
	}
	if more := s.Verdicts.NotIdentical() - len(m.changed); len(m.changed) > 0 && more > 0 {
		b.add("… and " + readable.Count(more, "case") + " more: `muster show NAME`\n\n")
	}
}

// writeNamed lists the cases of all verdicts but changed.
func (m *markdown) writeNamed(b *boundedMarkdown, s regress.Summary) {
	for v, names := range m.others {
		if len(names) == 0 {
			continue
		}
		var list strings.Builder
		for _, n := range names {
			list.WriteString("- " + n + "\n")
		}
		if more := s.Verdicts[v] - len(names); more > 0 {
			list.WriteString("- … and " + readable.Number(more) + " more\n")
		}
		b.add(folded(readable.Count(s.Verdicts[v], "case")+" "+regress.Verdict(v).String(), list.String()))
	}
}

// tail returns the end of every summary. Its commands are for pasting, so a command is whole or
// left out.
func (m *markdown) tail(s regress.Summary, left int) string {
	next := &boundedMarkdown{room: markdownNextBytes}
	for _, h := range hintsFor(s) {
		next.add("- " + whole(h.Command) + " – " + h.What + "\n")
	}
	b := &boundedMarkdown{room: markdownTailBytes}
	if left += next.left; left > 0 {
		b.add("… " + readable.Count(left, "piece") + " left out to keep this short: `muster groups` and `muster show` have all, `--html` is a page of them.\n\n")
	}
	if next.Len() > 0 {
		b.add("Next:\n\n" + next.String())
	}
	b.add("\nwall " + readable.Duration(s.Wall) + tookIn(s))
	if s.Run != "" {
		b.add(", run " + literal(s.Run))
	}
	if meaning := meaningOf(s); meaning != "" {
		b.add(fmt.Sprintf(", exit status %d: %s", s.ExitStatus, meaning))
	}
	b.add("\n")
	return b.String()
}

// tookIn returns the place of a run and its resources besides time.
func tookIn(s regress.Summary) string {
	if s.Engine == nil {
		return ", CPU " + readable.Duration(s.CPU)
	}
	text := ", on the engine " + engineCounts(s.Engine)
	if s.IsMeasured() {
		text += ", CPU " + readable.Duration(s.CPU) + " there"
	}
	return text
}

// boundedMarkdown takes whole pieces while there is room, and counts the others.
type boundedMarkdown struct {
	strings.Builder
	room int
	left int
}

func (b *boundedMarkdown) add(piece string) bool {
	if b.Len()+len(piece) > b.room {
		b.left++
		return false
	}
	b.WriteString(piece)
	return true
}

// inline escapes text for a line of Markdown, including cells of tables and pieces of HTML. It
// writes special characters by their numbers.
func inline(text string) string { return escaped(readable.Clip(readable.Line(text), cellBytesMax)) }

func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]()<>#+!|~$:&@\"'", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// literal returns text in code type. It does not use backticks: a pipe between them would end a
// table's cell.
func literal(text string) string { return "<code>" + inline(text) + "</code>" }

// whole is like literal, for text that is useless without its end, such as a command.
func whole(text string) string { return "<code>" + escaped(readable.Line(text)) + "</code>" }

// folded returns a piece that unfolds from its title.
func folded(title, text string) string {
	return "<details><summary>" + title + "</summary>\n\n" + strings.TrimRight(text, "\n") + "\n\n</details>\n\n"
}

// fenced returns a diff unchanged, within a fence that is longer than any in the diff.
func fenced(diff string) string {
	diff = strings.TrimSuffix(readable.Text(diff), "\n")
	longest, run := 0, 0
	for _, r := range diff {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + "diff\n" + diff + "\n" + fence + "\n\n"
}
