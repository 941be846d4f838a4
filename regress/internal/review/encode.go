package review

import (
	"encoding/json"
	"fmt"
)

// EncodeDecisions encodes decisions, by ID, for a file.
func EncodeDecisions(by map[string]State) ([]byte, error) { return json.MarshalIndent(by, "", " ") }

// DecodeDecisions is the inverse of EncodeDecisions. Empty text means no decisions. It refuses
// a state that is not a decision.
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
			return nil, fmt.Errorf("%q is not a decision on %q", s, id)
		}
	}
	return decisions(by), nil // null means none
}
