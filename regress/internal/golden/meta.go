package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Meta describes how a store was made: the command, the corpus, the machine. The file has it as JSON.
type Meta struct {
	Command          []Command      `json:"command"`    // as given
	Executable       string         `json:"executable"` // path of the default command's executable
	ExecutableDigest outcome.Digest `json:"executable_digest"`
	Env              []string       `json:"env"`         // K=V, what was set beyond the fixed environment
	Corpus           outcome.Digest `json:"corpus"`      // identity of the corpus
	CorpusPath       string         `json:"corpus_path"` // its path as given, to repeat the run
	Machine          string         `json:"machine"`
	Limits           string         `json:"limits"` // that cases got, as prlimit(1) takes them; "" = not known
	MusterVersion    string         `json:"muster_version"`
	Created          time.Time      `json:"created"`
	Repeat           int            `json:"repeat"` // runs per case in the record
	Flags            Flags          `json:"flags"`  // other settings that identify the run: rules, stdin, shell, headers, context

	// After an accept: the run that was accepted last, and the Digest of the golden that this run
	// was compared with. A further accept of the same run knows by them that nobody else changed
	// the golden.
	AcceptedRun string         `json:"accepted_run"`
	AcceptBase  outcome.Digest `json:"accept_base"`

	// Run is the ID of the run that makes the store. A resumed run recognises its own unfinished
	// store by it. It is empty if unknown.
	Run string `json:"run"`

	// Preflight is the digest of the preflight on an engine, mostly the tool's version. It is zero
	// if the command ran on this machine.
	Preflight outcome.Digest `json:"preflight"`

	// FromEngine reports that outcomes may come from an engine although Preflight is zero: by an
	// accept or an import.
	FromEngine bool `json:"from_engine"`

	Selection Selection `json:"selection"` // of the record
	Accepts   []Accept  `json:"accepts"`   // Record.Origin refers to them; seal drops the unused ones

	// Tool lists the files of the tool. It is empty if the tool ran on an engine.
	Tool []ToolFile `json:"tool"`

	// Reference is what recorded the golden, if an accept changed Command since. Costs are compared
	// with it. nil means Command.
	Reference *Recorder `json:"reference"`

	// TimesVary reports that the sources had the time of the run, and that cases had the limits of the machine. The
	// format of the file says so.
	TimesVary bool `json:"-"`
}

// OnEngine reports whether any outcome in the store may come from an engine.
func (m Meta) OnEngine() bool { return m.FromEngine || m.Preflight != outcome.Digest{} }

// Command is one command, and a glob of its cases.
type Command struct {
	Glob string   `json:"glob"` // empty: all cases that no other glob matches
	Args []string `json:"args"`
}

// SameCommands reports whether two lists of commands are equal.
func SameCommands(a, b []Command) bool {
	return slices.EqualFunc(a, b, func(x, y Command) bool { return x.Glob == y.Glob && slices.Equal(x.Args, y.Args) })
}

// ToolFile is one file of the tool, a path at which the tool looks for one in vain, or a folder that
// it lists or asks for.
type ToolFile struct {
	Path   string         `json:"path"`
	Role   string         `json:"role"`            // why it belongs to the tool
	Digest outcome.Digest `json:"digest,omitzero"` // zero with AbsentRole and FolderRole; of the names, with ListedRole
}

// Roles that are named outside package closure.
const (
	OpenedRole = "opened" // the tool only opens it
	AbsentRole = "absent" // there is no file
	ListedRole = "listed" // a folder: the tool reads its names
	FolderRole = "folder" // the tool asks only whether it is there
)

// SameTool reports whether no file has another content in one list of files than in the other. Runs
// of other cases use other files, or a folder in another way, so a file of one list alone is no difference, but
// for executables and files that a command names.
func SameTool(a, b []ToolFile) bool {
	is := map[string]ToolFile{}
	for _, f := range a {
		is[f.Path] = f
	}
	ofCommand := func(list []ToolFile) (paths []string) {
		for _, f := range list {
			if slices.Contains([]string{"executable", "word", "given"}, f.Role) {
				paths = append(paths, f.Path)
			}
		}
		return paths
	}
	return slices.Equal(ofCommand(a), ofCommand(b)) && !slices.ContainsFunc(b, func(f ToolFile) bool {
		other, known := is[f.Path]
		return known && other.Digest != f.Digest && other.Role != FolderRole && f.Role != FolderRole
	})
}

// Flags are flags with their values. In JSON they are a list, sorted by key.
type Flags map[string]string

type flagJSON struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// MarshalJSON writes keys and values in printed form.
func (f Flags) MarshalJSON() ([]byte, error) {
	var list []flagJSON
	for _, key := range slices.Sorted(maps.Keys(f)) {
		list = append(list, flagJSON{name.Print(key), name.Print(f[key])})
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (f *Flags) UnmarshalJSON(b []byte) error {
	var list []flagJSON
	err := json.Unmarshal(b, &list)
	if err == nil {
		err = name.ParseIn(&list)
	}
	*f = nil
	if len(list) > 0 {
		*f = Flags{}
	}
	for _, flag := range list {
		(*f)[flag.Key] = flag.Value
	}
	return err
}

// encodeMeta encodes m as one JSON object.
func encodeMeta(m Meta) ([]byte, error) {
	name.PrintIn(&m)
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("meta of a golden: %w", err)
	}
	return b, nil
}

// decodeMeta reads the output of encodeMeta. It ignores fields that it does not know.
func decodeMeta(b []byte) (m Meta, err error) {
	if err = json.Unmarshal(b, &m); err == nil {
		err = name.ParseIn(&m)
	}
	return m, err
}

// Machine describes this machine, for Meta and Accept.
func Machine() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s %s/%s %d CPUs", host, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

// Accept records one accept, which brought the outcomes of a run into the golden.
type Accept struct {
	Run           string    `json:"run"` // ID of the run
	Author        string    `json:"author"`
	At            time.Time `json:"at"`
	Reason        string    `json:"reason"`
	Command       []Command `json:"command"` // of the run
	Machine       string    `json:"machine"` // where the cases ran
	MusterVersion string    `json:"muster_version"`
	Flags         Flags     `json:"flags"` // like Meta.Flags
}
