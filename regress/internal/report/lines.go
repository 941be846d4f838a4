package report

import (
	"io"
	"math"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cost"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// A lineWriter writes events as lines of JSON. One goroutine uses it.
type lineWriter struct{ options json.Options }

func newLineWriter() lineWriter { return lineWriter{json.WithMarshalers(lineMarshalers())} }

// write writes the line of an event in one write. c is the cost of the change that a summary repeats.
func (l lineWriter) write(w io.Writer, ev Event, c *Cost) error {
	return l.writeAs(w, ev.kind(), lineOf(ev, c))
}

// writeAs writes a struct as a line of the given type.
func (l lineWriter) writeAs(w io.Writer, kind string, of any) error {
	text, err := json.Marshal(name.Printed(of, readable.Text), l.options)
	if err != nil {
		return err
	}
	line := append([]byte(`{"type":"`+kind+`",`), text[1:]...)
	_, err = w.Write(append(line, '\n'))
	return err
}

// lineMarshalers write durations as milliseconds, and values that are not known as null.
func lineMarshalers() *json.Marshalers {
	return json.JoinMarshalers(
		json.MarshalToFunc(func(e *jsontext.Encoder, d time.Duration) error {
			return e.WriteToken(jsontext.Float(float64(d) / float64(time.Millisecond)))
		}),
		json.MarshalToFunc(func(e *jsontext.Encoder, x float64) error { return e.WriteToken(jsontext.Float(finite(x))) }),
		json.MarshalToFunc(func(e *jsontext.Encoder, r cost.Ratio) error {
			if !r.IsKnown() {
				return e.WriteToken(jsontext.Null)
			}
			return json.MarshalEncode(e, ratioLine{r.Value, known(r.Low, r.Low != 0), known(r.High, r.High != 0)})
		}),
		json.MarshalToFunc(func(e *jsontext.Encoder, l regress.LongestRun) error {
			if l == (regress.LongestRun{}) {
				return e.WriteToken(jsontext.Null)
			}
			return json.SkipFunc
		}),
		json.MarshalToFunc(func(e *jsontext.Encoder, r outcome.EngineRun) error {
			return json.MarshalEncode(e, engineRunLine{r.Cached, r.Worker, known(r.Queued, r.QueueKnown), r.Took, r.Measured, r.Asked})
		}),
		json.MarshalToFunc(func(e *jsontext.Encoder, c cost.Case) error { return json.MarshalEncode(e, costCaseLineOf(c)) }),
		json.MarshalToFunc(func(e *jsontext.Encoder, s regress.Sources) error { return json.MarshalEncode(e, sourcesLine(s)) }),
	)
}

// known returns a pointer to v, or nil if v is not known.
func known[T any](v T, isKnown bool) *T {
	if !isKnown {
		return nil
	}
	return &v
}

// finite returns x, or 0 for infinities and NaN, which readers of numbers reject.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

type ratioLine struct {
	Value float64  `json:"ratio"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

type engineRunLine struct {
	Cached   bool           `json:"cached"`
	Worker   string         `json:"worker"`
	Queued   *time.Duration `json:"queued_ms"`
	Took     time.Duration  `json:"took_ms"`
	Measured bool           `json:"measured"`
	Asked    time.Duration  `json:"asked_ms"`
}

type costCaseLine struct {
	Name    string        `json:"name"`
	Pairs   int           `json:"pairs"`
	OldCPU  time.Duration `json:"old_cpu_ms"`
	OldWall time.Duration `json:"old_wall_ms"`
	OldPeak int64         `json:"old_peak_rss_kib"`
	NewCPU  time.Duration `json:"new_cpu_ms"`
	NewWall time.Duration `json:"new_wall_ms"`
	NewPeak int64         `json:"new_peak_rss_kib"`
	CPU     float64       `json:"cpu_ratio"`
}

func costCaseLineOf(c cost.Case) costCaseLine {
	return costCaseLine{c.Name, c.Pairs, c.Old.CPU, c.Old.Wall, c.Old.PeakRSS, c.New.CPU, c.New.Wall, c.New.PeakRSS, c.CPU}
}

type sourcesLine struct {
	Known         int      `json:"known"`
	Changed       int      `json:"changed"`
	Shared        int      `json:"shared"`
	SharedChanged int      `json:"shared_changed"`
	SharedAdded   int      `json:"shared_added"`
	SharedRemoved int      `json:"shared_removed"`
	Names         []string `json:"names,omitempty"`
	SharedNames   []string `json:"shared_names,omitempty"`
}
