// Package report turns the events of a run into output for people and programs: text, a
// progress line, JSON lines, JUnit, an HTML page, Markdown, and the file of the events
// themselves. One stream of events feeds every reporter.
//
// Package report must not run anything, decide a verdict, or query the runner: any fact that a
// reporter needs is a field of an event.
package report

import (
	"errors"
	"fmt"
	"io"

	"muster/internal/readable"
	"muster/regress/internal/cause"
)

// A Reporter shows a run. The owner of the run calls Handle for every event in order, and Close
// once at the end, even if the run broke off without Finished. It never makes two calls at
// once.
//
// An error of Handle is that of the output, such as a closed pipe. The run goes on, and its
// owner reports the error at the end.
type Reporter interface {
	Handle(Event) error
	Close() error
}

// Tee passes each event to every reporter, in order. It does so even if one of them fails.
type Tee []Reporter

// Handle implements Reporter. The errors are joined.
func (t Tee) Handle(e Event) error {
	var errs []error
	for _, r := range t {
		errs = append(errs, r.Handle(e))
	}
	return errors.Join(errs...)
}

// Close closes all reporters in order and joins the errors.
func (t Tee) Close() error {
	var errs []error
	for _, r := range t {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Verbosity is how much of a run is shown.
type Verbosity int

// The closed set of verbosities.
const (
	Normal  Verbosity = iota
	Quiet             // warnings, how the run ended, and why the machine failed cases
	Verbose           // every case, including identical ones
)

// A Stream is a place for text, and its properties.
type Stream struct {
	io.Writer
	Terminal bool       // the cursor can be moved, so a line can be redrawn
	Colour   bool       // colour is wanted and understood
	Width    func() int // present number of columns, asked at each redraw; nil = 80
}

const columnsDefault = 80

func (s Stream) columns() int {
	if s.Width == nil {
		return columnsDefault
	}
	return s.Width()
}

// A Console is the two streams of a command: results go to Out, progress and notes to Err.
type Console struct {
	Out, Err Stream
	Shared   bool // one terminal has both: results must be written above the progress line
}

// memberships knows the causes of a run and their cases, from Group events.
type memberships struct {
	causes []cause.Cause
	of     map[string][]int32 // indexes of causes, by case name
}

func (m *memberships) add(g Group) {
	if m.of == nil {
		m.of = map[string][]int32{}
	}
	for _, name := range g.Members {
		m.of[name] = append(m.of[name], int32(len(m.causes)))
	}
	m.causes = append(m.causes, g.Cause)
}

// ids returns the IDs of the causes of a case. It is never nil.
func (m *memberships) ids(caseName string) []string {
	ids := []string{}
	for _, i := range m.of[caseName] {
		ids = append(ids, m.causes[i].ID)
	}
	return ids
}

// CauseCount counts the causes of a run.
type CauseCount struct {
	alone   int // causes with a line of their own
	buckets int // lines that stand for several causes each
	folded  int // the causes in them
}

// CountCauses counts causes.
func CountCauses(causes []cause.Cause) (n CauseCount) {
	for i := range causes {
		n.add(&causes[i])
	}
	return n
}

func (n *CauseCount) add(c *cause.Cause) {
	if folded := c.Bucketed(); folded > 0 {
		n.buckets, n.folded = n.buckets+1, n.folded+folded
		return
	}
	n.alone++
}

// String says how many causes there are, and how many of them are in buckets.
func (n CauseCount) String() string {
	if n.buckets == 0 {
		return readable.Count(n.alone, "cause")
	}
	return fmt.Sprintf("%s: %s shown, %s folded into %s", readable.Count(n.alone+n.folded, "cause"), readable.Number(n.alone), readable.Number(n.folded), readable.Count(n.buckets, "bucket"))
}
