package golden

import "encoding/json"

// Selection is the choice of cases that a record ran. The zero value selects all cases. The names
// of the chosen cases are those of the golden's records.
type Selection struct {
	Globs     []string
	Filters   []string
	Partition string
	Sample    int

	later map[string]json.RawMessage // fields of a later muster
}

// Everything reports whether all cases were selected.
func (s Selection) Everything() bool {
	return len(s.Globs) == 0 && len(s.Filters) == 0 && s.Partition == "" && s.Sample == 0 && s.later == nil
}

type selectionFields struct {
	Globs     []text `json:"globs"`
	Filters   []text `json:"filters"`
	Partition text   `json:"partition"`
	Sample    int    `json:"sample"`
}

// selectionJSON is selectionFields with the fields of later programs.
type selectionJSON struct {
	selectionFields
	later map[string]json.RawMessage
}

func (s Selection) json() selectionJSON {
	return selectionJSON{selectionFields{texts[text](s.Globs), texts[text](s.Filters), text(s.Partition), s.Sample}, s.later}
}

func (j selectionJSON) selection() Selection {
	return Selection{texts[string](j.Globs), texts[string](j.Filters), string(j.Partition), j.Sample, j.later}
}

// MarshalJSON writes all fields, later ones included.
func (j selectionJSON) MarshalJSON() ([]byte, error) { return marshalWith(j.later, j.selectionFields) }

// UnmarshalJSON reads the output of MarshalJSON, of this program or a later one.
func (j *selectionJSON) UnmarshalJSON(b []byte) (err error) {
	j.later, err = unmarshalWith(b, &j.selectionFields)
	return err
}
