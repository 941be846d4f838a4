package golden

import (
	"encoding/json"
	"time"
)

// Accept records one accept, which brought the outcomes of a run into the golden.
type Accept struct {
	Run           string // ID of the run
	Author        string
	At            time.Time
	Reason        string
	Command       []Command // of the run
	Machine       string    // where the cases ran
	MusterVersion string
	Flags         map[string]string // like Meta.Flags; empty in goldens of older programs

	later map[string]json.RawMessage // fields of a later muster
}

// acceptFields is an accept in the file, without the fields of later programs.
type acceptFields struct {
	Run           text          `json:"run"`
	Author        text          `json:"author"`
	At            time.Time     `json:"at"`
	Reason        text          `json:"reason"`
	Command       []commandJSON `json:"command"`
	Machine       text          `json:"machine"`
	MusterVersion text          `json:"muster_version"`
	Flags         []flagJSON    `json:"flags"`
}

// acceptJSON is acceptFields with the fields of later programs.
type acceptJSON struct {
	acceptFields
	later map[string]json.RawMessage
}

func (a Accept) json() acceptJSON {
	return acceptJSON{acceptFields{
		Run: text(a.Run), Author: text(a.Author), At: a.At.UTC(), Reason: text(a.Reason),
		Command: commandsJSON(a.Command), Machine: text(a.Machine), MusterVersion: text(a.MusterVersion),
		Flags: flagsJSON(a.Flags),
	}, a.later}
}

func (j acceptJSON) accept() Accept {
	return Accept{
		Run: string(j.Run), Author: string(j.Author), At: j.At, Reason: string(j.Reason),
		Command: commands(j.Command), Machine: string(j.Machine), MusterVersion: string(j.MusterVersion),
		Flags: flagsOf(j.Flags), later: j.later,
	}
}

// MarshalJSON writes all fields, later ones included.
func (j acceptJSON) MarshalJSON() ([]byte, error) { return marshalWith(j.later, j.acceptFields) }

// UnmarshalJSON reads the output of MarshalJSON, of this program or a later one.
func (j *acceptJSON) UnmarshalJSON(b []byte) (err error) {
	j.later, err = unmarshalWith(b, &j.acceptFields)
	return err
}

// marshalWith writes the fields of an object together with those of later programs.
func marshalWith(later map[string]json.RawMessage, fields any) ([]byte, error) {
	old, err := json.Marshal(later)
	if err != nil {
		return nil, err
	}
	return merge(old, fields)
}

// unmarshalWith reads the fields of an object and returns all others.
func unmarshalWith(b []byte, fields any) (later map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(b, fields); err != nil {
		return nil, err
	}
	known, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	var names map[string]json.RawMessage
	if err := json.Unmarshal(b, &later); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(known, &names); err != nil {
		return nil, err
	}
	for name := range names {
		delete(later, name)
	}
	if len(later) == 0 {
		return nil, nil
	}
	return later, nil
}
