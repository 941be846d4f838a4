package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// NewJUnit returns a Reporter that leaves a JUnit file at path once the run is
// Finished; before that, and after a run that broke off, whatever was there
// stays. All cases are listed, those that did not run as skipped. They go to a nameless file beside the path as
// they come: a report of 200,000 failures does not fit in memory.
func NewJUnit(path string) (Reporter, error) {
	// A device or a pipe would be replaced by a file.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fault.Inputf("junit: %s is not a regular file", readable.Line(path))
	}
	body, err := createBeside(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Inputf("junit: %w", err)
	}
	if err != nil {
		return nil, fault.Environmentf("junit: %w", err)
	}
	if err := os.Remove(body.Name()); err != nil {
		return nil, errors.Join(fault.Environmentf("junit: %w", err), body.Close())
	}
	return &junit{path: path, body: body, w: bufio.NewWriter(body)}, nil
}

type junit struct {
	path     string
	body     *os.File // the test cases, in the order in which they came
	w        *bufio.Writer
	written  int64
	pieces   []piece // where in body each case stands
	started  Started
	failures int
	errors   int
	skipped  int
}

// A piece is a stretch of the body, and where it belongs.
type piece struct {
	index    int
	from, to int64
}

func (j *junit) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Started:
		j.started = ev
	case Case:
		return j.testcase(ev)
	case NotRun:
		return j.notRun(ev)
	case Finished:
		return j.finish(ev.Summary)
	}
	return nil
}

func (j *junit) Close() error { return j.body.Close() }

func (j *junit) testcase(c Case) error {
	var b strings.Builder
	b.WriteString(testcaseTag(c.Name, c.Cost.Wall))
	switch {
	case c.Verdict == outcome.Environment:
		j.errors++
		element(&b, "error", c.Verdict, readable.Line(c.Why), readable.Text(c.Why))
	case j.fails(c.Verdict):
		j.failures++
		element(&b, "failure", c.Verdict, gist(c), (&results{}).details(c))
	default:
		b.WriteString("/>\n")
	}
	return j.add(c.Index, b.String())
}

func (j *junit) notRun(c NotRun) error {
	j.skipped++
	return j.add(c.Index, testcaseTag(c.Name, 0)+">\n      <skipped message=\"not run: the run ended before it\"/>\n    </testcase>\n")
}

// testcaseTag opens a test case and leaves its tag open.
func testcaseTag(caseName string, wall time.Duration) string {
	printable := name.Print(caseName)
	return fmt.Sprintf("    <testcase classname=%s name=%s time=%s", attr(path.Dir(printable)), attr(printable), seconds(wall))
}

func (j *junit) add(index int, text string) error {
	n, err := j.w.WriteString(text)
	j.pieces = append(j.pieces, piece{index, j.written, j.written + int64(n)})
	j.written += int64(n)
	return err
}

// fails reports whether a verdict makes the run fail. At record no verdict of
// the tool does.
func (j *junit) fails(v outcome.Verdict) bool {
	return v != outcome.Identical && j.started.Command != RecordCommand && !slices.Contains(j.started.Allowed, v)
}

func element(b *strings.Builder, tag string, v outcome.Verdict, message, text string) {
	fmt.Fprintf(b, ">\n      <%s type=%s message=%s>", tag, attr(v.String()), attr(message))
	b.WriteString(elementText(text))
	fmt.Fprintf(b, "</%s>\n    </testcase>\n", tag)
}

// elementText escapes text for the inside of an element, where lines and tabs
// may stay as they are, for those who read the file itself.
func elementText(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
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

func (j *junit) finish(s Summary) error {
	if err := j.w.Flush(); err != nil {
		return err
	}
	// Stable: several missing cases have one index and came sorted.
	slices.SortStableFunc(j.pieces, func(a, b piece) int { return cmp.Compare(a.index, b.index) })
	whole, err := createBeside(j.path)
	if err != nil {
		return err
	}
	err = errors.Join(j.writeAll(whole, s), whole.Close())
	if err == nil {
		err = os.Rename(whole.Name(), j.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(whole.Name()))
	}
	return nil
}

func (j *junit) writeAll(to io.Writer, s Summary) error {
	w := bufio.NewWriter(to)
	counts := fmt.Sprintf("name=%s tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=%s",
		attr("muster "+readable.Line(s.Command)), len(j.pieces), j.failures, j.errors, j.skipped, seconds(s.Wall))
	fmt.Fprintf(w, "%s<testsuites %s>\n", xml.Header, counts)
	fmt.Fprintf(w, "  <testsuite %s timestamp=%s>\n", counts, attr(j.started.At.UTC().Format("2006-01-02T15:04:05")))
	fmt.Fprintf(w, "    <properties>\n")
	for _, p := range []struct{ name, value string }{
		{"run", readable.Line(s.Run)}, {"not_run", strconv.Itoa(s.NotRun)}, {"interrupted", strconv.FormatBool(s.Interrupted)},
	} {
		fmt.Fprintf(w, "      <property name=%s value=%s/>\n", attr(p.name), attr(p.value))
	}
	fmt.Fprintf(w, "    </properties>\n")
	for _, p := range j.pieces {
		if _, err := io.Copy(w, io.NewSectionReader(j.body, p.from, p.to-p.from)); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "  </testsuite>\n</testsuites>\n")
	return w.Flush()
}

// createBeside creates a temporary file in the folder of a path. Unlike
// os.CreateTemp it leaves the permissions to the umask, for the file may be
// renamed to that path and others are to read it.
func createBeside(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path+"."+strconv.FormatUint(rand.Uint64(), 36)+".tmp", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
