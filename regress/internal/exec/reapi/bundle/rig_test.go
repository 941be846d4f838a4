package bundle_test

import (
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	muster "muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/tree"
)

// need finds a program on this machine.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("%s is not there, and MUSTER_REQUIRE=all", program)
	}
	t.Skipf("%s is not there", program)
	return ""
}

func command(t *testing.T, words ...string) *muster.Command {
	t.Helper()
	need(t, words[0])
	c, err := muster.Resolve(words, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func made(t *testing.T, o bundle.Options) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// placed is a file or a link below the root of an action's input.
type placed struct {
	path   string
	target string // of a link
	exec   bool
	digest blob.Digest
}

func (p placed) String() string {
	switch {
	case p.target != "":
		return p.path + " -> " + p.target
	case p.exec:
		return p.path + "*"
	}
	return p.path
}

func rootOf(t *testing.T, b *bundle.Bundle) *tree.Folder {
	t.Helper()
	var root tree.Builder
	if err := b.Place(&root); err != nil {
		t.Fatal(err)
	}
	folder, err := root.Build()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// travels lists what an engine is sent of a bundle, by path.
func travels(t *testing.T, b *bundle.Bundle) (all []placed) {
	t.Helper()
	root := rootOf(t, b)
	messages := map[string][]byte{}
	for m := range root.Blobs {
		messages[m.Digest.Hash.String()] = m.Bytes
	}
	var enter func(at, hash string)
	enter = func(at, hash string) {
		var d repb.Directory
		if err := proto.Unmarshal(messages[hash], &d); err != nil {
			t.Fatal(err)
		}
		for _, f := range d.GetFiles() {
			digest, err := blob.FromProto(f.GetDigest())
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, placed{path: path.Join(at, f.GetName()), exec: f.GetIsExecutable(), digest: digest})
		}
		for _, l := range d.GetSymlinks() {
			all = append(all, placed{path: path.Join(at, l.GetName()), target: l.GetTarget()})
		}
		for _, sub := range d.GetDirectories() {
			enter(path.Join(at, sub.GetName()), sub.GetDigest().GetHash())
		}
	}
	enter("", root.Digest().Hash.String())
	slices.SortFunc(all, func(a, b placed) int { return strings.Compare(a.path, b.path) })
	return all
}
