package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"muster/regress/internal/exec/reapi/blob"
)

// Builder collects the entries of a folder, in any order. The zero Builder is an empty folder.
// One goroutine uses it.
type Builder struct {
	entries map[string]*built
}

type built struct {
	entry
	sub *Builder // content of a folder
}

// File adds a file at a path. A second file at the same path must be equal.
func (b *Builder) File(path string, f File) error {
	return b.put(path, entry{kind: aFile, file: f})
}

// Link adds a symlink at a path. A relative target begins in the link's folder, an absolute one
// in the root of the worker's file system.
func (b *Builder) Link(path, target string) error {
	if target == "" || len(target) >= pathBytesMax || strings.IndexByte(target, 0) >= 0 || !utf8.ValidString(target) {
		return fmt.Errorf("the link %q leads to %.80q, which cannot be sent", path, target)
	}
	return b.put(path, entry{kind: aLink, target: target})
}

// Folder adds a folder at a path unless it exists. It may be empty.
func (b *Builder) Folder(path string) error { return b.put(path, entry{kind: aFolder}) }

func (b *Builder) put(path string, e entry) error {
	if err := checkSent(path); err != nil {
		return err
	}
	for rest := path; ; {
		first, after, below := strings.Cut(rest, "/")
		put := entry{kind: aFolder}
		if !below {
			put = e
		}
		put.name = first
		had, err := b.at(put)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !below {
			return nil
		}
		b, rest = had.sub, after
	}
}

// at adds an entry, or returns the equal one that exists.
func (b *Builder) at(put entry) (*built, error) {
	had := b.entries[put.name]
	switch {
	case had == nil:
	case had.kind != put.kind:
		return nil, fmt.Errorf("%s is there as %s already", put.name, had.kind)
	case had.file != put.file || had.target != put.target:
		return nil, fmt.Errorf("%s is there already, and is another", put.name)
	default:
		return had, nil
	}
	had = &built{entry: put}
	if put.kind == aFolder {
		had.sub = &Builder{}
	}
	if b.entries == nil {
		b.entries = map[string]*built{}
	}
	b.entries[put.name] = had
	return had, nil
}

// Build returns the entries as a Folder. The Builder may be used further.
func (b *Builder) Build() (*Folder, error) {
	f := &Folder{entries: make([]entry, 0, len(b.entries))}
	for _, had := range b.entries {
		e := had.entry
		if had.sub != nil {
			var err error
			if e.sub, err = had.sub.Build(); err != nil {
				return nil, err
			}
		}
		f.entries = append(f.entries, e)
	}
	slices.SortFunc(f.entries, compareEntries)
	for i := range f.entries {
		text, err := f.entries[i].encode()
		if err != nil {
			return nil, err
		}
		f.message = append(f.message, text...)
		f.entries[i].end = len(f.message)
	}
	f.digest = blob.Of(f.message).Digest
	return f, nil
}

// Property is a required property of a worker.
type Property struct{ Name, Value string }

// Command is a command, and the outputs that are requested of it.
type Command struct {
	Args     []string   // the zeroth is an absolute path, a path relative to Folder, or a name in PATH
	Env      []string   // K=V; if a name occurs twice, the last one counts
	Folder   string     // the working directory below the root of the input; "" = the root
	Outputs  []string   // paths below Folder; "" or "." = the whole folder
	Platform []Property // as in the Action
}

// Blob returns the canonical message.
func (c Command) Blob() (blob.Blob, error) {
	env, err := environment(c.Env)
	if err != nil {
		return blob.Blob{}, err
	}
	if err := checkTexts(append(slices.Clone(c.Args), c.Outputs...)); err != nil {
		return blob.Blob{}, err
	}
	m := &repb.Command{
		Arguments: c.Args, EnvironmentVariables: env, WorkingDirectory: c.Folder, OutputPaths: slices.Compact(slices.Sorted(slices.Values(c.Outputs))),
	}
	setPlatform(m, platform(c.Platform))
	return encoded(m)
}

func environment(env []string) ([]*repb.Command_EnvironmentVariable, error) {
	values := map[string]string{}
	for _, kv := range env {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not an environment variable, K=V", kv)
		}
		values[key] = value
	}
	if err := checkTexts(env); err != nil {
		return nil, err
	}
	list := make([]*repb.Command_EnvironmentVariable, 0, len(values))
	for key, value := range values {
		list = append(list, &repb.Command_EnvironmentVariable{Name: key, Value: value})
	}
	slices.SortFunc(list, func(a, b *repb.Command_EnvironmentVariable) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func platform(properties []Property) *repb.Platform {
	if len(properties) == 0 {
		return nil
	}
	properties = slices.Clone(properties)
	slices.SortFunc(properties, func(a, b Property) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
	p := &repb.Platform{}
	for _, property := range slices.Compact(properties) {
		p.Properties = append(p.Properties, &repb.Platform_Property{Name: property.Name, Value: property.Value})
	}
	return p
}

// checkTexts refuses text that a message or a process cannot take.
func checkTexts(texts []string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return fmt.Errorf("%.80q is not UTF-8, as the Remote Execution API wants it; rename it, or run it on this machine", text)
		}
	}
	return nil
}

// Action is a command with its input, and how it runs.
type Action struct {
	Command, Input blob.Digest
	Timeout        time.Duration // 0 = the engine's default
	Platform       []Property
}

// Blob returns the canonical message. Its digest is the key of cached results.
func (a Action) Blob() (blob.Blob, error) {
	m := &repb.Action{
		CommandDigest:   a.Command.Proto(),
		InputRootDigest: a.Input.Proto(),
		Platform:        platform(a.Platform),
	}
	if a.Timeout > 0 {
		m.Timeout = durationpb.New(a.Timeout)
	}
	return encoded(m)
}

func encoded(m proto.Message) (blob.Blob, error) {
	b, err := marshal(m)
	return blob.Of(b), err
}

// marshal encodes the fields in the order of their numbers. No message that it encodes has a
// map.
func marshal(m proto.Message) ([]byte, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("make a message: %w", err)
	}
	return b, nil
}

// With returns the folder with a file added or replaced. It also returns the new messages:
// those on the file's path.
func (f *Folder) With(path string, file File) (*Folder, []blob.Blob, error) {
	if err := checkSent(path); err != nil {
		return nil, nil, err
	}
	var made []blob.Blob
	now, err := f.with(path, file, &made)
	return now, made, err
}

func (f *Folder) with(path string, file File, made *[]blob.Blob) (*Folder, error) {
	first, rest, below := strings.Cut(path, "/")
	put := entry{kind: aFile, name: first, file: file}
	had := f.find(first)
	if below {
		put = entry{kind: aFolder, name: first}
		sub := &Folder{digest: blob.Of(nil).Digest} // an empty one
		if had != nil && had.kind == aFolder {
			sub = had.sub
		}
		var err error
		if put.sub, err = sub.with(rest, file, made); err != nil {
			return nil, err
		}
	}
	if had != nil && had.kind != put.kind {
		return nil, fmt.Errorf("%s is already there, and not as %s", first, put.kind)
	}
	now, err := f.put(put)
	if err == nil {
		*made = append(*made, now.blob())
	}
	return now, err
}

// put returns the folder with an entry added, or replaced if it has the same kind and name. It
// copies the bytes of the others.
func (f *Folder) put(e entry) (*Folder, error) {
	text, err := e.encode()
	if err != nil {
		return nil, err
	}
	at, replaces := f.search(e.kind, e.name)
	from, rest := f.begin(at), f.begin(at)
	after := f.entries[at:]
	if replaces {
		rest, after = f.entries[at].end, after[1:]
	}
	now := &Folder{
		message: make([]byte, 0, len(f.message)+len(text)-(rest-from)),
		entries: make([]entry, 0, len(f.entries)+1),
	}
	now.message = append(append(append(now.message, f.message[:from]...), text...), f.message[rest:]...)
	e.end = from + len(text)
	now.entries = append(append(append(now.entries, f.entries[:at]...), e), after...)
	for i := at + 1; i < len(now.entries); i++ {
		now.entries[i].end += e.end - rest
	}
	now.digest = blob.Of(now.message).Digest
	return now, nil
}

// Linux's bounds of a name and of a path, in bytes.
const (
	partBytesMax = 255
	pathBytesMax = 4096
)

// checkPath refuses what cannot be a path below a folder.
func checkPath(path string) error {
	if len(path) >= pathBytesMax {
		return fmt.Errorf("a path of %d bytes is longer than %d", len(path), pathBytesMax-1)
	}
	for part := range strings.SplitSeq(path, "/") {
		if err := checkPart(part); err != nil {
			return fmt.Errorf("path %q: %w", path, err)
		}
	}
	return nil
}

// checkSent refuses what cannot be a path, or cannot be in a message because it is not UTF-8.
func checkSent(path string) error {
	if !utf8.ValidString(path) {
		return fmt.Errorf("path %q: the name is not UTF-8, as the Remote Execution API wants it; rename it, or run it on this machine", path)
	}
	return checkPath(path)
}

func checkPart(part string) error {
	switch {
	case part == "" || part == "." || part == "..":
		return fmt.Errorf("%q cannot be the name of a file", part)
	case len(part) > partBytesMax:
		return fmt.Errorf("a part of %d bytes is longer than %d", len(part), partBytesMax)
	case strings.ContainsAny(part, "/\x00"):
		return fmt.Errorf("%q cannot be the name of a file", part)
	}
	return nil
}
