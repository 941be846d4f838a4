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

// Property is a required property of a worker.
type Property struct{ Name, Value string }

// Command is a command, and the outputs that are requested of it.
type Command struct {
	Args     []string   // the zeroth is an absolute path, a path relative to Folder, or a name in PATH
	Env      []string   // K=V; if a name occurs twice, the last one counts
	Folder   string     // the working directory below the root of the input; "" = the root
	Outputs  []string   // paths below Folder; "" or "." = the whole folder
	Platform []Property // as in the Action
	Before21 bool       // the engine does not know output paths, only output files and folders
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
	outputs := slices.Compact(slices.Sorted(slices.Values(c.Outputs)))
	m := &repb.Command{Arguments: c.Args, EnvironmentVariables: env, WorkingDirectory: c.Folder}
	setPlatform(m, platform(c.Platform))
	if c.Before21 {
		setOutputs(m, outputs)
	} else {
		m.OutputPaths = outputs
	}
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
