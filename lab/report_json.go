package lab

import (
	"encoding/json"
	"io"
)

// JSON writes what the report says beside the figures, a line for each, and then the
// results it is of.
func (r Report) JSON(w io.Writer, results *Results) error {
	e := json.NewEncoder(w)
	for _, line := range r.lines {
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return results.WriteJSON(w)
}
