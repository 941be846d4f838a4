package results

import (
	"encoding/json"
	"io"
)

// WriteJSON writes a line for each figure with its median and interval. Then it writes a line
// for each absent figure, missing contestant and warning, and last a summary.
func (r *Results) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	figures := 0
	for _, name := range r.Names() {
		for _, unit := range r.Units(name) {
			s := r.Summary(name, unit)
			line := jsonFigure{
				Type: "figure", Name: name, Unit: unit, Median: s.Median, Low: s.Low, High: s.High,
				Confidence: s.Confidence, Samples: r.Figures(name, unit),
			}
			if err := e.Encode(line); err != nil {
				return err
			}
			figures++
		}
	}
	warnings := r.Warnings()
	var others []any
	for _, a := range r.Absent {
		others = append(others, jsonAbsent{"absent", a.Name, a.Why})
	}
	for _, m := range r.Missing {
		others = append(others, jsonMissing{"missing", m.Peer, m.Reason, m.Install})
	}
	for _, w := range warnings {
		others = append(others, jsonWarning{"warning", w.Kind.String(), w.Name, w.Text})
	}
	conditions := map[string]string{}
	for _, c := range r.Conditions {
		conditions[c.Key] = c.Value
	}
	others = append(others, jsonSummary{
		"summary", conditions, figures, len(r.Absent), len(r.Missing), len(warnings), r.NotRun > 0, r.NotRun,
	})
	for _, line := range others {
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

type jsonFigure struct {
	Type       string    `json:"type"`
	Name       string    `json:"name"`
	Unit       string    `json:"unit"`
	Median     float64   `json:"median"`
	Low        float64   `json:"low"`
	High       float64   `json:"high"`
	Confidence float64   `json:"confidence"`
	Samples    []float64 `json:"samples"`
}

type jsonAbsent struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Why  string `json:"why"`
}

type jsonMissing struct {
	Type    string `json:"type"`
	Peer    string `json:"peer"`
	Reason  string `json:"reason"`
	Install string `json:"install"`
}

type jsonWarning struct {
	Type string `json:"type"`
	Kind string `json:"kind"`
	Name string `json:"name"`
	Text string `json:"text"`
}

type jsonSummary struct {
	Type        string            `json:"type"`
	Conditions  map[string]string `json:"conditions"`
	Figures     int               `json:"figures"`
	Absent      int               `json:"absent"`
	Missing     int               `json:"missing"`
	Warnings    int               `json:"warnings"`
	Interrupted bool              `json:"interrupted"` // the run ended early
	NotRun      int               `json:"not_run"`
}
