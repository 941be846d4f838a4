package review

import (
	"encoding/json"
	"fmt"
)

// EncodeDecisions encodes decisions, by ID, to be kept.
func EncodeDecisions(by map[string]State) ([]byte, error) { return json.MarshalIndent(by, "", " ") }

// DecodeDecisions returns what EncodeDecisions made, and for no text that there are none.
// It refuses a state that is no decision.
func DecodeDecisions(text []byte) (map[string]State, error) {
	by := map[string]State{}
	if text == nil {
		return by, nil
	}
	if err := json.Unmarshal(text, &by); err != nil {
		return nil, err
	}
	for id, s := range by {
		if s != Accepted && s != Rejected {
			return nil, fmt.Errorf("%q is no decision on %q", s, id)
		}
	}
	return decisions(by), nil // null is none
}
