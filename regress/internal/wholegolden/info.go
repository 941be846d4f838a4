package wholegolden

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Info describes a golden. Its JSON is one line. Scripts rely on the keys. name.PrintIn escapes control
// characters in its strings.
type Info struct {
	Type             string            `json:"type"`
	Golden           string            `json:"golden"`
	Format           int               `json:"format"`
	Digest           outcome.Digest    `json:"digest"`
	Created          time.Time         `json:"created"`
	Machine          string            `json:"machine"`
	Limits           string            `json:"limits"`
	MusterVersion    string            `json:"muster_version"`
	Run              string            `json:"run"`
	Repeat           int               `json:"repeat"`
	Engine           bool              `json:"engine"`
	Command          []golden.Command  `json:"command"`
	Executable       string            `json:"executable"`
	ExecutableDigest outcome.Digest    `json:"executable_digest"`
	Tool             []ToolFile        `json:"tool"`
	Reference        *Recorder         `json:"reference"` // null: Command recorded the golden
	Env              []string          `json:"env"`
	Flags            map[string]string `json:"flags"`
	Corpus           string            `json:"corpus"`
	CorpusDigest     outcome.Digest    `json:"corpus_digest"`
	Selection        *Selection        `json:"selection"` // null: everything
	Cases            int               `json:"cases"`
	FlakyCases       int               `json:"flaky_cases"`
	SourcesKnown     int               `json:"sources_known"`
	SharedFiles      *int              `json:"shared_files"` // null: not known
	Accepts          []Accept          `json:"accepts"`
	FileBytes        int64             `json:"file_bytes"`
	UnusedBytes      int64             `json:"unused_bytes"`
	Contents         int               `json:"contents"`
	ContentBytes     int64             `json:"content_bytes"`
	PackedBytes      int64             `json:"packed_bytes"`
}

// Recorder describes what recorded a golden whose command an accept changed.
type Recorder struct {
	Command          []golden.Command `json:"command"`
	Executable       string           `json:"executable"`
	ExecutableDigest outcome.Digest   `json:"executable_digest"`
	Created          time.Time        `json:"created"`
}

// ToolFile is a file that belongs to the tool, a path at which the tool looks for one in vain, or a
// folder that it lists, with the digest of its names.
type ToolFile struct {
	Path   string         `json:"path"`
	Role   string         `json:"role"`
	Digest outcome.Digest `json:"sha256,omitzero"`
}

// Selection is the selection of the record.
type Selection struct {
	Globs     []string `json:"cases"`
	Filters   []string `json:"filters"`
	Partition string   `json:"partition"`
	Sample    int      `json:"sample"`
}

// Accept is one accept, with the number of its cases that are still in the golden.
type Accept struct {
	Run           string           `json:"run"`
	Author        string           `json:"author"`
	At            time.Time        `json:"at"`
	Reason        string           `json:"reason"`
	Command       []golden.Command `json:"command"`
	Machine       string           `json:"machine"`
	MusterVersion string           `json:"muster_version"`
	Cases         int              `json:"cases"`
}

// Describe describes a golden without reading contents. called is the name to print.
func Describe(called string, s *golden.Store) (Info, error) {
	m := s.Meta()
	i := Info{
		Type: "golden", Format: s.Format(), Digest: s.Digest(), Created: m.Created,
		Machine: m.Machine, Limits: m.Limits, MusterVersion: m.MusterVersion, Run: m.Run, Repeat: m.Repeat, Engine: m.OnEngine(),
		Command: list(m.Command), Executable: m.Executable, ExecutableDigest: m.ExecutableDigest, Tool: []ToolFile{},
		Env: list(m.Env), Flags: map[string]string{}, Corpus: m.CorpusPath, CorpusDigest: m.Corpus, Selection: selection(m.Selection),
		Cases: s.Len(), Accepts: []Accept{},
	}
	for _, f := range m.Tool {
		i.Tool = append(i.Tool, ToolFile(f))
	}
	for key, value := range m.Flags {
		i.Flags[name.Print(key)] = name.Print(value)
	}
	if r := m.Reference; r != nil {
		i.Reference = &Recorder{list(r.Command), r.Executable, r.ExecutableDigest, r.Created}
	}
	for _, a := range m.Accepts {
		i.Accepts = append(i.Accepts, describeAccept(a))
	}
	name.PrintIn(&i)
	i.Golden = called
	i.count(s)
	return i, i.measure(s)
}

func describeAccept(a golden.Accept) Accept {
	return Accept{a.Run, a.Author, a.At, a.Reason, list(a.Command), a.Machine, a.MusterVersion, 0}
}

// AcceptText returns an accept in words.
func AcceptText(a golden.Accept) string {
	described := describeAccept(a)
	name.PrintIn(&described)
	return described.String()
}

// list returns a copy that is not null in JSON.
func list[T any](all []T) []T { return append([]T{}, all...) }

// count counts cases. It reads only the index in memory.
func (i *Info) count(s *golden.Store) {
	for n := range s.Names() {
		if s.Flaky(n) {
			i.FlakyCases++
		}
		if s.Source(n) != (outcome.Digest{}) {
			i.SourcesKnown++
		}
		if origin := s.Origin(n); origin > 0 {
			i.Accepts[origin-1].Cases++
		}
	}
}

func (i *Info) measure(s *golden.Store) error {
	shared, err := s.Shared()
	if err != nil {
		return err
	}
	if shared != nil {
		n := len(shared)
		i.SharedFiles = &n
	}
	z, err := s.Sizes()
	i.FileBytes, i.UnusedBytes, i.Contents, i.ContentBytes, i.PackedBytes = z.File, z.Unused, z.Contents, z.Plain, z.Packed
	return err
}

func selection(s golden.Selection) *Selection {
	if s.Everything() {
		return nil
	}
	described := Selection(s)
	described.Globs, described.Filters = list(s.Globs), list(s.Filters)
	return &described
}

// WriteText writes the description for people.
func (i Info) WriteText(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	line := func(key, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", key, readable.Line(fmt.Sprintf(format, args...)))
	}
	line("golden", "%s, format %d", i.Golden, i.Format)
	line("cases", "%s, %s of them flaky", readable.Number(i.Cases), readable.Number(i.FlakyCases))
	line("recorded", "%s", i.recorded())
	if i.Limits != "" {
		line("limits", "%s", i.Limits)
	}
	for _, c := range i.Command {
		line("command", "%s", commandText(c))
	}
	if i.Executable != "" && len(i.Tool) == 0 {
		line("tool", "%s, SHA-256 %s", i.Executable, i.ExecutableDigest)
	}
	number := map[string]int{}
	for _, f := range i.Tool {
		switch f.Role {
		case golden.OpenedRole, golden.AbsentRole, golden.ListedRole, golden.FolderRole:
			number[f.Role]++
		default:
			line("tool", "%s %s, SHA-256 %s", f.Role, f.Path, f.Digest)
		}
	}
	if len(number) > 0 {
		line("tool", "%s that it opens, %s at which it finds nothing, %s that it lists or asks for; --format json names them",
			readable.Count(number[golden.OpenedRole], "other file"), readable.Count(number[golden.AbsentRole], "path"), readable.Count(number[golden.ListedRole]+number[golden.FolderRole], "folder"))
	}
	if r := i.Reference; r != nil {
		for _, c := range r.Command {
			line("recorded by", "%s, %s, SHA-256 %s", commandText(c), r.Executable, r.ExecutableDigest)
		}
	}
	for _, e := range i.Env {
		line("env", "%s", e)
	}
	for _, key := range slices.Sorted(maps.Keys(i.Flags)) {
		line("flag", "%s %s", key, i.Flags[key])
	}
	if isKnown(i.CorpusDigest) {
		line("corpus", "%s, SHA-256 %s", i.Corpus, i.CorpusDigest)
	}
	line("sources", "%s", i.sources())
	line("selection", "%s", i.Selection)
	for _, a := range i.Accepts {
		line("accepted", "%s; from it: %s of the golden", a, readable.Count(a.Cases, "case"))
	}
	line("file", "%s, %s unused", readable.Size(i.FileBytes), readable.Size(i.UnusedBytes))
	line("outputs", "%s of %s, packed into %s", readable.Number(i.Contents), readable.Size(i.ContentBytes), readable.Size(i.PackedBytes))
	return w.Flush()
}

func (i Info) recorded() string {
	text := fmt.Sprintf("%s by muster %s on %s, %s a case", timeText(i.Created), i.MusterVersion, i.Machine, readable.Count(i.Repeat, "run"))
	if i.Engine {
		text += ", some of them on an engine"
	}
	return text
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func (i Info) sources() string {
	shared := "shared files not known"
	if i.SharedFiles != nil {
		shared = readable.Count(*i.SharedFiles, "shared file")
	}
	return fmt.Sprintf("digests of %s, %s", readable.Count(i.SourcesKnown, "case"), shared)
}

// commandText returns a command with its glob.
func commandText(c golden.Command) string {
	text := name.QuoteCommand(c.Args)
	if c.Glob != "" {
		text += ", for " + c.Glob
	}
	return text
}

// String returns the selection as flags.
func (s *Selection) String() string {
	if s == nil {
		return "everything"
	}
	var words []string
	for _, c := range s.Globs {
		words = append(words, "--cases", c)
	}
	for _, f := range s.Filters {
		words = append(words, "--filter", f)
	}
	if s.Partition != "" {
		words = append(words, "--partition", s.Partition)
	}
	if s.Sample > 0 {
		words = append(words, "--sample", strconv.Itoa(s.Sample))
	}
	return name.QuoteCommand(words)
}

// String returns the run, who accepted it, and why.
func (a Accept) String() string {
	text := fmt.Sprintf("run %s, %s", a.Run, timeText(a.At))
	if a.Author != "" {
		text += " by " + a.Author
	}
	if len(a.Command) > 0 {
		text += ": " + commandText(a.Command[0])
	}
	if reason, err := name.Parse(a.Reason); err == nil && strings.TrimSpace(reason) != "" {
		text += ": " + strings.Join(strings.Fields(reason), " ") // one line
	}
	return text
}

func isKnown(d outcome.Digest) bool { return d != outcome.Digest{} }
