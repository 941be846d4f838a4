package report

import (
	"encoding/json"
	"io"

	"muster/regress/internal/fault"
	"muster/regress/internal/jsonline"
)

// EventsMark is the beginning of an events file.
const EventsMark = `{"type":"events"`

// eventsVersion is the version of the lines that NewEvents writes. A new key does not change
// the version, because readers ignore unknown keys. Any other change does.
const eventsVersion = 2

// NewEvents returns a Reporter that writes every event as one JSON line, in
// one write, so that another program can follow the run. It closes w.
func NewEvents(w io.WriteCloser) (Reporter, error) {
	e := &events{w: w, encoder: jsonline.NewEncoder()}
	return e, e.write(jsonline.Object{Kind: "events", More: []jsonline.Member{{Key: "version", Value: eventsVersion}}})
}

type events struct {
	w       io.WriteCloser
	encoder *jsonline.Encoder
	cost    *Cost // repeated in the last line
}

func (e *events) Handle(ev Event) error {
	if c, ok := ev.(Cost); ok {
		e.cost = &c
	}
	return e.write(eventLine(ev, e.cost))
}

func (e *events) Close() error { return e.w.Close() }

func (e *events) write(o jsonline.Object) error {
	if err := e.encoder.WriteLine(e.w, o); err != nil {
		return fault.Environmentf("--events: %w", err)
	}
	return nil
}

// EncodeLine writes v as one line of JSON. It does not escape "<" and "&", because no browser
// reads these lines.
func EncodeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
