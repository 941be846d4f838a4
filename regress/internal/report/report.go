// Package report turns the events of a run into what people and other programs
// read: text, a progress line, JSON lines, JUnit, a page of HTML, Markdown, and the
// file of the events themselves. One stream of events feeds every reporter, so that a run that is
// replayed from its events file reads the same as it did live.
//
// It must not run anything, decide any verdict, or ask the runner anything: a
// fact that a reporter needs is a field of an event.
package report

import (
	"errors"
	"io"
)

// A Reporter shows a run. The owner of the run calls Handle for every event in
// order and Close once at the end, also when the run broke off without
// Finished; never two calls at once.
//
// An error of Handle is that of the output, such as a closed pipe: nobody reads
// on. The run itself goes on, and its owner tells the error at the end.
type Reporter interface {
	Handle(Event) error
	Close() error
}

// Tee passes each event to every reporter, in order. A reporter that fails
// does not keep the others from the event.
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

// Verbosity says how much of a run is shown.
type Verbosity int

// The degrees.
const (
	Normal  Verbosity = iota
	Quiet             // warnings and the one line that says how it ended
	Verbose           // every case, identical ones too
)

// A Stream is where text goes, with what has to be known of it.
type Stream struct {
	io.Writer
	Terminal bool       // the cursor can be moved: a line may be drawn again in its place
	Colour   bool       // wanted, and understood
	Width    func() int // columns now; asked again at each redraw; nil means 80
}

const columnsDefault = 80

func (s Stream) columns() int {
	if s.Width == nil {
		return columnsDefault
	}
	return s.Width()
}

// A Console is the pair of streams of a command: results go to Out, progress
// and notes to Err.
type Console struct {
	Out, Err Stream
	Shared   bool   // both are one terminal: results must be written above the progress line
	Past     bool   // the run is over: there is no progress to show
	Resume   string // shell line that goes on with the run; "" = unknown
}
