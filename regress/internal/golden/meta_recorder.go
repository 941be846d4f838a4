package golden

import (
	"encoding/json"
	"time"

	"muster/regress/internal/outcome"
)

// Recorder describes what recorded a golden: the command whose cost a check compares with.
type Recorder struct {
	Command          []Command
	Executable       string // path of the default command's executable
	ExecutableDigest outcome.Digest
	Shell, Stdin     bool // how it was started
	Created          time.Time
	Moved            time.Time // when the last accept changed the command
}

// Recorder returns what recorded the golden, even after an accept changed the command.
func (m Meta) Recorder() Recorder {
	if m.Reference != nil {
		return *m.Reference
	}
	return Recorder{
		Command: m.Command, Executable: m.Executable, ExecutableDigest: m.ExecutableDigest,
		Shell: m.Flags["--shell"] != "", Stdin: m.Flags["--stdin"] != "", Created: m.Created,
	}
}

type recorderJSON struct {
	Command          []commandJSON  `json:"command"`
	Executable       text           `json:"executable"`
	ExecutableDigest outcome.Digest `json:"executable_digest"`
	Shell            bool           `json:"shell"`
	Stdin            bool           `json:"stdin"`
	Created          time.Time      `json:"created"`
	Moved            time.Time      `json:"moved"`
}

func (r *Recorder) json() *recorderJSON {
	if r == nil {
		return nil
	}
	return &recorderJSON{commandsJSON(r.Command), text(r.Executable), r.ExecutableDigest, r.Shell, r.Stdin, r.Created.UTC(), r.Moved.UTC()}
}

func (j *recorderJSON) recorder() *Recorder {
	if j == nil {
		return nil
	}
	return &Recorder{commands(j.Command), string(j.Executable), j.ExecutableDigest, j.Shell, j.Stdin, j.Created, j.Moved}
}

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

func (s Selection) json() openJSON[selectionFields] {
	return openJSON[selectionFields]{
		selectionFields{texts[text](s.Globs), texts[text](s.Filters), text(s.Partition), s.Sample}, s.later,
	}
}

func (j selectionFields) selection(later map[string]json.RawMessage) Selection {
	return Selection{texts[string](j.Globs), texts[string](j.Filters), string(j.Partition), j.Sample, later}
}
