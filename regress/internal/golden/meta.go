package golden

import (
	"cmp"
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

// Meta describes how a store was made: the command, the corpus, the machine.
type Meta struct {
	Command          []Command // as given
	Executable       string    // path of the default command's executable
	ExecutableDigest outcome.Digest
	Env              []string       // K=V, what was set beyond the fixed environment
	Corpus           outcome.Digest // identity of the corpus
	CorpusPath       string         // its path as given, to repeat the run
	Machine          string
	MusterVersion    string
	Created          time.Time
	Repeat           int               // runs per case in the record
	Flags            map[string]string // other settings that identify the run: rules, stdin, shell, headers, context

	// After an accept: the run that was accepted last, and the Digest of the golden that this run
	// was compared with. A further accept of the same run knows by them that nobody else changed
	// the golden.
	AcceptedRun string
	AcceptBase  outcome.Digest

	// Run is the ID of the run that makes the store. A resumed run recognises its own unfinished
	// store by it. It is empty if unknown, as in older goldens.
	Run string

	// Preflight is the digest of the preflight on an engine, mostly the tool's version. It is zero
	// if the command ran on this machine.
	Preflight outcome.Digest

	// Tool lists the files of the tool. It is empty if the tool ran on an engine, and in
	// older goldens.
	Tool []ToolFile

	// FromEngine reports that outcomes may come from an engine although Preflight is zero: by an
	// accept or an import.
	FromEngine bool

	// Reference is what recorded the golden, if an accept changed Command since. Costs are compared
	// with it. nil means Command.
	Reference *Recorder

	Selection Selection // of the record
	Accepts   []Accept  // Record.Origin refers to them; seal drops the unused ones
	Rules     []Rule    // of accepted causes, the oldest first
	RulesMade int       // the highest number that a rule had
	Revoked   []Rule    // without their bodies; a merge does not bring them back
}

// OnEngine reports whether any outcome in the store may come from an engine.
func (m Meta) OnEngine() bool { return m.FromEngine || m.Preflight != outcome.Digest{} }

// Command is one command, and a glob of its cases.
type Command struct {
	Glob string // empty: all cases that no other glob matches
	Args []string
}

// SameCommands reports whether two lists of commands are equal.
func SameCommands(a, b []Command) bool {
	return slices.EqualFunc(a, b, func(x, y Command) bool { return x.Glob == y.Glob && slices.Equal(x.Args, y.Args) })
}

// ToolFile is one file of the tool, a path at which the tool looks for one in vain, or a folder that
// it lists or asks for.
type ToolFile struct {
	Path   string
	Role   string         // why it belongs to the tool
	Digest outcome.Digest // zero with AbsentRole and FolderRole; of the names, with ListedRole
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

// text is a string in JSON. JSON holds Unicode only, while arguments and paths are bytes. Other
// bytes are written as in printed names.
type text string

func (t text) MarshalText() ([]byte, error) { return []byte(name.Print(string(t))), nil }

func (t *text) UnmarshalText(b []byte) error {
	s, err := name.Parse(string(b))
	*t = text(s)
	return err
}

// metaJSON is Meta in the file. No field may be omitted when empty: merge relies on all fields.
type metaJSON struct {
	Command          []commandJSON             `json:"command"`
	Executable       text                      `json:"executable"`
	ExecutableDigest outcome.Digest            `json:"executable_digest"`
	Env              []text                    `json:"env"`
	Corpus           outcome.Digest            `json:"corpus"`
	CorpusPath       text                      `json:"corpus_path"`
	Machine          text                      `json:"machine"`
	MusterVersion    text                      `json:"muster_version"`
	Created          time.Time                 `json:"created"`
	Repeat           int                       `json:"repeat"`
	Flags            []flagJSON                `json:"flags"`
	AcceptedRun      text                      `json:"accepted_run"`
	AcceptBase       outcome.Digest            `json:"accept_base"`
	Run              text                      `json:"run"`
	Preflight        outcome.Digest            `json:"preflight"`
	FromEngine       bool                      `json:"from_engine"`
	Selection        openJSON[selectionFields] `json:"selection"`
	Accepts          []openJSON[acceptFields]  `json:"accepts"`
	Tool             []toolFileJSON            `json:"tool"`
	Reference        *recorderJSON             `json:"reference"`
	Rules            []openJSON[ruleFields]    `json:"rules"`
	RulesMade        int                       `json:"rules_made"`
	Revoked          []openJSON[ruleFields]    `json:"rules_revoked"`
}

type toolFileJSON struct {
	Path   text           `json:"path"`
	Role   string         `json:"role"`
	Digest outcome.Digest `json:"digest,omitzero"`
}

type commandJSON struct {
	Glob text   `json:"glob"`
	Args []text `json:"args"`
}

func commandsJSON(list []Command) (all []commandJSON) {
	for _, c := range list {
		all = append(all, commandJSON{text(c.Glob), texts[text](c.Args)})
	}
	return all
}

func commands(list []commandJSON) (all []Command) {
	for _, c := range list {
		all = append(all, Command{string(c.Glob), texts[string](c.Args)})
	}
	return all
}

// flagJSON is one flag; the list is sorted by key. Keys of a JSON object could not be of type text.
type flagJSON struct {
	Key   text `json:"key"`
	Value text `json:"value"`
}

func flagsJSON(flags map[string]string) (list []flagJSON) {
	for _, k := range slices.Sorted(maps.Keys(flags)) {
		list = append(list, flagJSON{text(k), text(flags[k])})
	}
	return list
}

func flagsOf(list []flagJSON) map[string]string {
	if len(list) == 0 {
		return nil
	}
	all := make(map[string]string, len(list))
	for _, f := range list {
		all[string(f.Key)] = string(f.Value)
	}
	return all
}

// encodeMeta encodes m as one JSON object with sorted keys. It keeps the fields of the object old
// that this program does not know. So an accept by an older program loses nothing.
func encodeMeta(m Meta, old []byte) ([]byte, error) {
	j := metaJSON{
		Executable: text(m.Executable), ExecutableDigest: m.ExecutableDigest,
		Env: texts[text](m.Env), Corpus: m.Corpus, CorpusPath: text(m.CorpusPath), Machine: text(m.Machine),
		MusterVersion: text(m.MusterVersion), Created: m.Created.UTC(), Repeat: m.Repeat,
		AcceptedRun: text(m.AcceptedRun), AcceptBase: m.AcceptBase, Run: text(m.Run),
		Preflight: m.Preflight, FromEngine: m.FromEngine, RulesMade: m.RulesMade,
	}
	j.Command = commandsJSON(m.Command)
	j.Selection = m.Selection.json()
	for _, a := range m.Accepts {
		j.Accepts = append(j.Accepts, a.json())
	}
	j.Rules, j.Revoked = rulesJSON(m.Rules), rulesJSON(m.Revoked)
	for _, f := range m.Tool {
		j.Tool = append(j.Tool, toolFileJSON{text(f.Path), f.Role, f.Digest})
	}
	j.Flags, j.Reference = flagsJSON(m.Flags), m.Reference.json()
	b, err := merge(old, j)
	if err != nil {
		return nil, fmt.Errorf("meta of a golden: %w", err)
	}
	return b, nil
}

// merge returns the object old with the fields of j replaced.
func merge(old []byte, j any) ([]byte, error) {
	b, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{}
	if old != nil {
		if err := json.Unmarshal(old, &all); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// decodeMeta reads the output of encodeMeta. It ignores the fields of later programs.
func decodeMeta(b []byte) (Meta, error) {
	var j metaJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return Meta{}, err
	}
	m := Meta{
		Executable: string(j.Executable), ExecutableDigest: j.ExecutableDigest,
		Env: texts[string](j.Env), Corpus: j.Corpus, CorpusPath: string(j.CorpusPath), Machine: string(j.Machine),
		MusterVersion: string(j.MusterVersion), Created: j.Created, Repeat: j.Repeat,
		AcceptedRun: string(j.AcceptedRun), AcceptBase: j.AcceptBase, Run: string(j.Run),
		Preflight: j.Preflight, FromEngine: j.FromEngine, RulesMade: j.RulesMade,
	}
	m.Command = commands(j.Command)
	m.Selection = j.Selection.fields.selection(j.Selection.later)
	for _, a := range j.Accepts {
		m.Accepts = append(m.Accepts, a.fields.accept(a.later))
	}
	m.Rules, m.Revoked = rulesOf(j.Rules), rulesOf(j.Revoked)
	for _, f := range j.Tool {
		m.Tool = append(m.Tool, ToolFile{string(f.Path), f.Role, f.Digest})
	}
	m.Flags, m.Reference = flagsOf(j.Flags), j.Reference.recorder()
	return m, nil
}

func texts[T, S ~string](from []S) []T {
	if from == nil {
		return nil
	}
	to := make([]T, len(from))
	for i, s := range from {
		to[i] = T(s)
	}
	return to
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

func (a Accept) json() openJSON[acceptFields] {
	return openJSON[acceptFields]{acceptFields{
		Run: text(a.Run), Author: text(a.Author), At: a.At.UTC(), Reason: text(a.Reason),
		Command: commandsJSON(a.Command), Machine: text(a.Machine), MusterVersion: text(a.MusterVersion),
		Flags: flagsJSON(a.Flags),
	}, a.later}
}

func (j acceptFields) accept(later map[string]json.RawMessage) Accept {
	return Accept{
		Run: string(j.Run), Author: string(j.Author), At: j.At, Reason: string(j.Reason),
		Command: commands(j.Command), Machine: string(j.Machine), MusterVersion: string(j.MusterVersion),
		Flags: flagsOf(j.Flags), later: later,
	}
}

// openJSON is an object with the fields of later programs.
type openJSON[F any] struct {
	fields F
	later  map[string]json.RawMessage
}

// MarshalJSON writes all fields, later ones included.
func (j openJSON[F]) MarshalJSON() ([]byte, error) {
	old, err := json.Marshal(j.later)
	if err != nil {
		return nil, err
	}
	return merge(old, j.fields)
}

// UnmarshalJSON reads the output of MarshalJSON, of this program or a later one.
func (j *openJSON[F]) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &j.fields); err != nil {
		return err
	}
	known, err := json.Marshal(j.fields)
	if err != nil {
		return err
	}
	var names map[string]json.RawMessage
	if err := cmp.Or(json.Unmarshal(b, &j.later), json.Unmarshal(known, &names)); err != nil {
		return err
	}
	maps.DeleteFunc(j.later, func(name string, _ json.RawMessage) bool { _, isKnown := names[name]; return isKnown })
	if len(j.later) == 0 {
		j.later = nil
	}
	return nil
}
