package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/report/pending"
)

// JUnitMark is at the beginning of every file of NewJUnit.
const JUnitMark = `<testsuites name="muster `

// NewJUnit returns a Reporter that writes a JUnit file to path once the run is Finished. Until
// then, and if the run breaks off, an earlier file stays. The file lists all cases; those that
// did not run are skipped. Cases go to an unnamed file in the same folder as they come, because
// a report of 200,000 failures does not fit in memory.
func NewJUnit(path string) (Reporter, error) {
	to, err := pending.New("--junit", path)
	if err != nil {
		return nil, err
	}
	return &junit{to: to}, nil
}

type junit struct {
	to       *pending.File
	pieces   []piece // position of each case in the kept text
	causes   memberships
	started  Started
	failures int
	errors   int
	skipped  int
	detailed int // bytes of differences so far
	where    junitWhere
}

// A piece is a test case in the kept text, and its index.
type piece struct {
	index int
	at    pending.Stretch
	name  string // name of a case that may have causes
	inner int    // where its causes are inserted
}

func (j *junit) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Started:
		*j = junit{to: j.to, started: ev}
	case Case:
		return j.testcase(ev)
	case NotRun:
		return j.notRun(ev)
	case Group:
		j.causes.add(ev)
	case Finished:
		if err := j.runFails(ev.Summary); err != nil {
			return err
		}
		return j.to.Replace(func(w io.Writer) error { return j.write(w, ev.Summary) })
	}
	return nil
}

func (j *junit) Close() error { return j.to.Close() }

func (j *junit) testcase(c Case) error {
	var b strings.Builder
	b.WriteString(testcaseTag(c.Name, c.Cost.Wall))
	p := piece{index: c.Index}
	if err := j.where.add(j.to, c); err != nil {
		return err
	}
	switch {
	case c.Verdict == regress.EnvironmentFailed:
		j.errors++
		openElement(&b, "error", c.Verdict, readable.Line(c.Why))
		closeElement(&b, "error", readable.Text(c.Why))
	case j.started.Fails(c.Verdict):
		j.failures++
		openElement(&b, "failure", c.Verdict, gist(c))
		p.name, p.inner = c.Name, b.Len()
		where := EngineWords(c.Engine)
		if where != "" {
			where += "\n"
		}
		closeElement(&b, "failure", where+j.details(c))
	default:
		b.WriteString("/>\n")
	}
	return j.add(p, b.String())
}

// junitDetailBytesMax bounds the differences of all cases: readers of such files hold them in
// memory. The file still lists every case.
const junitDetailBytesMax = 16 << 20

// details returns the differences of a case while there is room.
func (j *junit) details(c Case) string {
	text := (&results{}).details(c)
	j.detailed += len(elementText(text))
	if j.detailed > junitDetailBytesMax {
		j.detailed = junitDetailBytesMax
		return "left out to keep this small: muster show NAME has it whole\n"
	}
	return text
}

// runFails adds a test case that stands for the run, if the run fails but none of its cases
// does: the record of a broken command, a cost above --fail-on, or --strict.
func (j *junit) runFails(s regress.Summary) error {
	if s.ExitStatus == regress.StatusClean || j.failures+j.errors > 0 {
		return nil
	}
	j.failures++
	message := attr(meaningOf(s))
	return j.add(piece{index: math.MaxInt}, fmt.Sprintf("    <testcase classname=\".\" name=%s time=\"0.000\">\n      <failure type=\"run\" message=%s/>\n    </testcase>\n",
		attr("muster "+readable.Line(s.Command)), message))
}

func (j *junit) notRun(c NotRun) error {
	j.skipped++
	return j.add(piece{index: c.Index}, testcaseTag(c.Name, 0)+">\n      <skipped message=\"not run: the run ended before it\"/>\n    </testcase>\n")
}

// testcaseTag begins a test case and leaves its tag open.
func testcaseTag(caseName string, wall time.Duration) string {
	printable := name.Print(caseName)
	return fmt.Sprintf("    <testcase classname=%s name=%s time=%s", attr(path.Dir(printable)), attr(printable), seconds(wall))
}

func (j *junit) add(p piece, text string) (err error) {
	p.at, err = j.to.Keep(text)
	j.pieces = append(j.pieces, p)
	return err
}

func openElement(b *strings.Builder, tag string, v regress.Verdict, message string) {
	fmt.Fprintf(b, ">\n      <%s type=%s message=%s>", tag, attr(v.String()), attr(message))
}

func closeElement(b *strings.Builder, tag, text string) {
	fmt.Fprintf(b, "%s</%s>\n    </testcase>\n", elementText(text), tag)
}

// elementText escapes text for the inside of an element. It keeps lines and tabs for people who
// read the file itself.
func elementText(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a strings.Builder never fails
	return strings.NewReplacer("&#xA;", "\n", "&#x9;", "\t").Replace(b.String())
}

// attr returns text as a quoted attribute.
func attr(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	xml.EscapeText(&b, []byte(text))
	b.WriteByte('"')
	return b.String()
}

func seconds(d time.Duration) string {
	return `"` + strconv.FormatFloat(max(d, 0).Seconds(), 'f', 3, 64) + `"`
}

func (j *junit) write(w io.Writer, s regress.Summary) error {
	// stable, because missing cases share one index and came sorted
	slices.SortStableFunc(j.pieces, func(a, b piece) int { return cmp.Compare(a.index, b.index) })
	counts := fmt.Sprintf("name=%s tests=\"%d\" failures=\"%d\" errors=\"%d\" time=%s",
		attr("muster "+readable.Line(s.Command)), len(j.pieces), j.failures, j.errors, seconds(s.Wall))
	fmt.Fprintf(w, "%s<testsuites %s>\n", xml.Header, counts)
	fmt.Fprintf(w, "  <testsuite %s skipped=\"%d\" timestamp=%s>\n", counts, j.skipped, attr(j.started.At.UTC().Format("2006-01-02T15:04:05")))
	fmt.Fprintf(w, "    <properties>\n")
	properties := []junitProperty{
		{"run", readable.Line(s.Run)}, {"not_run", strconv.Itoa(s.NotRun)}, {"interrupted", strconv.FormatBool(s.Interrupted)},
		{"groups", strconv.Itoa(s.Groups)},
		{"masked_cases", strconv.Itoa(s.Masked.Cases)}, {"masked_parts", strconv.Itoa(s.Masked.Parts)},
		{"masked_lines", strconv.Itoa(s.Masked.Holes.Lines)}, {"masked_whole", strconv.Itoa(s.Masked.Holes.Whole)},
		{"sources_changed", strconv.Itoa(s.Sources.Changed)}, {"shared_changed", strconv.Itoa(s.Sources.SharedDiffering())},
		{"not_in_sample", strconv.Itoa(s.NotSampled)},
	}
	if s.Reused > 0 {
		properties = append(properties, junitProperty{"reused", strconv.Itoa(s.Reused)})
	}
	if s.NotReused != "" {
		properties = append(properties, junitProperty{"not_reused", name.Print(s.NotReused)})
	}
	if text := toolChanged(s, namedMax); text != "" {
		properties = append(properties, junitProperty{"tool_changed", text})
	}
	for _, p := range append(properties, engineProperties(s.Engine)...) {
		fmt.Fprintf(w, "      <property name=%s value=%s/>\n", attr(p.name), attr(p.value))
	}
	fmt.Fprintf(w, "    </properties>\n")
	for _, p := range j.pieces {
		if err := j.writePiece(w, p); err != nil {
			return err
		}
	}
	if err := j.where.write(w, j.to); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "  </testsuite>\n</testsuites>\n")
	return err
}

// Bounds of the text about the causes of a case.
const (
	junitCausesMax  = 30
	junitCauseBytes = 300
)

// writePiece writes a test case, its causes before its differences. Both are text of the
// failure, which every reader shows. Jenkins' schema, Ant's and surefire's allow no properties
// in a test case, and Ant's allows no output beside a failure.
func (j *junit) writePiece(w io.Writer, p piece) error {
	causes := j.causes.of[p.name]
	if p.name == "" || len(causes) == 0 {
		return j.to.Copy(w, p.at)
	}
	inner := p.at.From + int64(p.inner)
	if err := j.to.Copy(w, pending.Stretch{From: p.at.From, To: inner}); err != nil {
		return err
	}
	if _, err := io.WriteString(w, elementText(j.causesText(causes))); err != nil {
		return err
	}
	return j.to.Copy(w, pending.Stretch{From: inner, To: p.at.To})
}

func (j *junit) causesText(causes []int32) string {
	var b strings.Builder
	for _, i := range causes[:min(len(causes), junitCausesMax)] {
		c := &j.causes.causes[i]
		fmt.Fprintf(&b, "cause %s\n", readable.Clip(readable.Line(c.ID+" "+c.Name), junitCauseBytes))
	}
	if more := len(causes) - junitCausesMax; more > 0 {
		fmt.Fprintf(&b, "… %s\n", readable.Count(more, "more cause"))
	}
	return b.String()
}

// junitWhere collects where each case ran, as lines of the suite's output. Within a test case
// the schemas allow it only in the text of a failure.
type junitWhere struct {
	lines []piece
	bytes int
	more  int // lines that there was no room for
}

// junitWhereBytesMax bounds these lines.
const junitWhereBytesMax = 8 << 20

func (j *junitWhere) add(to *pending.File, c Case) error {
	words := EngineWords(c.Engine)
	if words == "" {
		return nil
	}
	line := elementText(name.Print(c.Name) + "  " + words + "\n")
	if j.bytes += len(line); j.bytes > junitWhereBytesMax {
		j.more++
		return nil
	}
	at, err := to.Keep(line)
	j.lines = append(j.lines, piece{index: c.Index, at: at})
	return err
}

func (j *junitWhere) write(w io.Writer, to *pending.File) error {
	if len(j.lines) == 0 {
		return nil
	}
	slices.SortStableFunc(j.lines, func(a, b piece) int { return cmp.Compare(a.index, b.index) })
	fmt.Fprintf(w, "    <system-out>")
	for _, one := range j.lines {
		if err := to.Copy(w, one.at); err != nil {
			return err
		}
	}
	if j.more > 0 {
		fmt.Fprintf(w, "… %s: --format json -v has all\n", readable.Count(j.more, "more case"))
	}
	_, err := fmt.Fprintf(w, "</system-out>\n")
	return err
}

type junitProperty struct{ name, value string }

// engineProperties describes the runs on an engine. It returns none for runs on this machine.
func engineProperties(r *regress.EngineRuns) []junitProperty {
	if r == nil {
		return nil
	}
	list := []junitProperty{
		{"engine_cached", strconv.Itoa(r.Cached)}, {"engine_executed", strconv.Itoa(r.Executed)},
		{"engine_sent_bytes", strconv.FormatInt(r.Sent, 10)}, {"engine_received_bytes", strconv.FormatInt(r.Received, 10)},
	}
	if len(r.Workers) > 0 {
		list = append(list, junitProperty{"engine_workers", strconv.Itoa(len(r.Workers))})
	}
	if waits := engineWaits(r); waits != "" {
		list = append(list, junitProperty{"engine_waits", waits})
	}
	return list
}
