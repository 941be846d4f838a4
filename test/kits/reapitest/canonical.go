package reapitest

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// checkCanonical checks an action against the API's rules for canonical messages. Servers need
// not check them. This one does, so that every test of a client also tests these rules. All
// inputs of the action must be stored.
func (e *Engine) checkCanonical(d Digest, action *repb.Action, command *repb.Command) error {
	root := &repb.Directory{}
	top, err := digestOf(action.GetInputRootDigest())
	if err != nil {
		return err
	}
	below, err := digestOf(action.GetCommandDigest())
	if err != nil {
		return err
	}
	e.message(top, root)
	wrong := cmp.Or(e.encoding("action", d, action), e.encoding("command", below, command),
		ofCommand(command), ofPlatforms(action.GetPlatform(), command), e.ofFolder("", top))
	if wrong == "" && !e.hasFolder(root, command.GetWorkingDirectory()) {
		wrong = fmt.Sprintf("the working directory %q is not in the input", command.GetWorkingDirectory())
	}
	if wrong == "" {
		return nil
	}
	return status.Error(codes.InvalidArgument, wrong)
}

// encoding requires the fields in the order of their numbers, each once, and no unknown field.
func (e *Engine) encoding(what string, d Digest, m proto.Message) string {
	data, _ := e.Get(d)
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil || !bytes.Equal(data, again) || len(m.ProtoReflect().GetUnknown()) > 0 {
		return what + " is not encoded as all encode it"
	}
	return ""
}

func ofCommand(c *repb.Command) string {
	var names []string
	for _, v := range c.GetEnvironmentVariables() {
		names = append(names, v.GetName())
	}
	//lint:ignore SA1019 engines before 2.1 look at these
	old := append(slices.Clone(c.GetOutputFiles()), c.GetOutputDirectories()...)
	switch {
	case len(c.GetArguments()) == 0:
		return "a command has no arguments"
	case !rising(names):
		return fmt.Sprintf("variables %q", names)
	case !rising(c.GetOutputPaths()):
		return fmt.Sprintf("output paths %q", c.GetOutputPaths())
	case !rising(c.GetOutputNodeProperties()):
		return fmt.Sprintf("node properties %q", c.GetOutputNodeProperties())
	case len(c.GetOutputPaths()) > 0 && len(old) > 0:
		return "a command has output paths in the new way and in the old"
	}
	for _, p := range append(old, c.GetOutputPaths()...) {
		if strings.HasPrefix(p, "/") || p != "" && p != path.Clean(p) {
			return fmt.Sprintf("output path %q", p)
		}
	}
	return ""
}

// ofPlatforms requires equal properties in the action and in the command.
func ofPlatforms(p *repb.Platform, c *repb.Command) string {
	var all []string
	for _, property := range p.GetProperties() {
		all = append(all, property.GetName()+"\x00"+property.GetValue())
	}
	//lint:ignore SA1019 engines before 2.2 look there
	same := proto.Equal(p, c.GetPlatform())
	switch {
	case !rising(all):
		return fmt.Sprintf("properties %q", all)
	case !same:
		return "an action and its command have other properties"
	}
	return ""
}

// ofFolder checks a folder and everything below it.
func (e *Engine) ofFolder(at string, d Digest) string {
	folder := &repb.Directory{}
	e.message(d, folder)
	if wrong := e.encoding("folder "+at, d, folder); wrong != "" {
		return wrong
	}
	var files, folders, links []string
	for _, f := range folder.GetFiles() {
		files = append(files, f.GetName())
	}
	for _, f := range folder.GetDirectories() {
		folders = append(folders, f.GetName())
	}
	for _, l := range folder.GetSymlinks() {
		links = append(links, l.GetName())
		if strings.HasPrefix(l.GetTarget(), "/") && e.relativeLinks() {
			return fmt.Sprintf("link %s/%s leads to %q", at, l.GetName(), l.GetTarget())
		}
	}
	all := slices.Concat(files, folders, links)
	if !rising(files) || !rising(folders) || !rising(links) || !rising(slices.Sorted(slices.Values(all))) {
		return fmt.Sprintf("folder %q has %q, %q and %q", at, files, folders, links)
	}
	for _, name := range all {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return fmt.Sprintf("folder %q has the name %q", at, name)
		}
	}
	for _, f := range folder.GetDirectories() {
		sub, err := digestOf(f.GetDigest())
		if err != nil {
			return err.Error()
		}
		if wrong := e.ofFolder(path.Join(at, f.GetName()), sub); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (e *Engine) relativeLinks() bool {
	caps, _ := e.GetCapabilities(e.life, nil)
	return caps.GetCacheCapabilities().GetSymlinkAbsolutePathStrategy() == repb.SymlinkAbsolutePathStrategy_DISALLOWED
}

func (e *Engine) hasFolder(from *repb.Directory, at string) bool {
	if at == "" {
		return true
	}
	first, rest, _ := strings.Cut(at, "/")
	for _, f := range from.GetDirectories() {
		if f.GetName() == first {
			sub := &repb.Directory{}
			d, err := digestOf(f.GetDigest())
			return err == nil && e.message(d, sub) && e.hasFolder(sub, rest)
		}
	}
	return false
}

// rising requires strictly ascending bytes.
func rising(names []string) bool {
	return slices.IsSorted(names) && len(slices.Compact(slices.Clone(names))) == len(names)
}
