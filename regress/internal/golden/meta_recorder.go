package golden

import (
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
