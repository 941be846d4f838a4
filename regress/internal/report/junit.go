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
// did not run are skipped.
func NewJUnit(path string) (Reporter, error) {
	to, err := pending.New("--junit", path)
	if err != nil {
		return nil, err
	}
	return &junit{to: to}, nil
}

type junit struct {
	to       *pending.File
	pieces   []piece
	causes   memberships
	started  Started
	failures int
	errors   int
	skipped  int
	detailed int // bytes of differences so far
}

// A piece is a test case.
type piece struct {
	index int
	name  string // name of a case that may have causes
	text  string
	inner int // where its causes are inserted
}

func (j *junit) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Started:
		*j = junit{to: j.to, started: ev}
	case Case:
		j.testcase(ev)
	case NotRun:
		j.skipped++
		j.pieces = append(j.pieces, piece{index: ev.Index, text: testcaseTag(ev.Name, 0) + ">\n      <skipped message=\"not run: the run ended before it\"/>\n    </testcase>\n"})
	case Group:
		j.causes.add(ev)
	case Finished:
		j.runFails(ev.Summary)
		return j.to.Replace(func(w io.Writer) error { return j.write(w, ev.Summary) })
	}
	return nil
}

func (j *junit) Close() error { return nil }

func (j *junit) testcase(c Case) {
	var b strings.Builder
	b.WriteString(testcaseTag(c.Name, c.Cost.Wall))
	p := piece{index: c.Index}
	switch {
	case c.Verdict == regress.EnvironmentFailed:
		j.errors++
		why := readable.Clip(readable.Text(c.Why), junitReasonBytesMax)
		openElement(&b, "error", c.Verdict, readable.Line(why))
		closeElement(&b, "error", why)
	case j.started.Fails(c.Verdict):
		j.failures++
		openElement(&b, "failure", c.Verdict, readable.Clip(gist(c), junitReasonBytesMax))
		p.name, p.inner = c.Name, b.Len()
		where := EngineWords(c.Engine)
		if where != "" {
			where += "\n"
		}
		closeElement(&b, "failure", where+j.details(c))
	default:
		b.WriteString("/>\n")
	}
	p.text = b.String()
	j.pieces = append(j.pieces, p)
}

// junitDetailBytesMax bounds the differences of all cases: readers of such files hold them in
// memory. The file still lists every case.
const junitDetailBytesMax = 16 << 20

// junitReasonBytesMax bounds the reason of one case. All cases are in memory.
const junitReasonBytesMax = 400

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
func (j *junit) runFails(s regress.Summary) {
	if s.ExitStatus == regress.StatusClean || j.failures+j.errors > 0 {
		return
	}
	j.failures++
	j.pieces = append(j.pieces, piece{index: math.MaxInt, text: fmt.Sprintf("    <testcase classname=\".\" name=%s time=\"0.000\">\n      <failure type=\"run\" message=%s/>\n    </testcase>\n",
		attr("muster "+readable.Line(s.Command)), attr(meaningOf(s)))})
}

// testcaseTag begins a test case and leaves its tag open.
func testcaseTag(caseName string, wall time.Duration) string {
	printable := name.Print(caseName)
	return fmt.Sprintf("    <testcase classname=%s name=%s time=%s", attr(path.Dir(printable)), attr(printable), seconds(wall))
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
	if r := s.Engine; r != nil {
		properties = append(properties, junitProperty{"engine_cached", strconv.Itoa(r.Cached)}, junitProperty{"engine_executed", strconv.Itoa(r.Executed)})
	}
	for _, p := range properties {
		fmt.Fprintf(w, "      <property name=%s value=%s/>\n", attr(p.name), attr(p.value))
	}
	fmt.Fprintf(w, "    </properties>\n")
	for _, p := range j.pieces {
		j.writePiece(w, p)
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
func (j *junit) writePiece(w io.Writer, p piece) {
	io.WriteString(w, p.text[:p.inner])
	if causes := j.causes.of[p.name]; p.inner > 0 {
		io.WriteString(w, elementText(j.causesText(causes)))
	}
	io.WriteString(w, p.text[p.inner:])
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

type junitProperty struct{ name, value string }
