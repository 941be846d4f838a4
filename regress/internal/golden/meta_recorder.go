package golden

import (
	"time"

	"muster/regress/internal/outcome"
)

// Recorder describes what recorded a golden: the command whose cost a check compares with.
type Recorder struct {
	Command          []Command      `json:"command"`
	Executable       string         `json:"executable"` // path of the default command's executable
	ExecutableDigest outcome.Digest `json:"executable_digest"`
	Shell            bool           `json:"shell"` // how it was started
	Stdin            bool           `json:"stdin"`
	Created          time.Time      `json:"created"`
	Moved            time.Time      `json:"moved"` // when the last accept changed the command
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

// Selection is the choice of cases that a record ran. The zero value selects all cases. The names
// of the chosen cases are those of the golden's records.
type Selection struct {
	Globs     []string `json:"globs"`
	Filters   []string `json:"filters"`
	Partition string   `json:"partition"`
	Sample    int      `json:"sample"`
}

// Everything reports whether all cases were selected.
func (s Selection) Everything() bool {
	return len(s.Globs) == 0 && len(s.Filters) == 0 && s.Partition == "" && s.Sample == 0
}
