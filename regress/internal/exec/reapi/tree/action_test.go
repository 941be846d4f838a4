package tree_test

import (
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
)

func encoded(t *testing.T, m interface{ Blob() (blob.Blob, error) }) blob.Blob {
	t.Helper()
	b, err := m.Blob()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The digest of the smallest command: what everybody has of `arguments: "true"`.
func TestCommandIsCanonical(t *testing.T) {
	if got, want := string(encoded(t, tree.Command{Args: []string{"true"}}).Bytes), "\x0a\x04true"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	one := tree.Command{
		Args: []string{"cc", "-o", "b", "a"}, Env: []string{"B=2", "A=0", "A=1"}, Outputs: []string{"z", "", "a", "z"}, Folder: "work",
		Platform: []tree.Property{{"OS", "linux"}, {"ISA", "y"}, {"ISA", "x"}},
	}
	two := one
	two.Env = []string{"A=1", "B=2"}
	two.Outputs = []string{"a", "z", ""}
	two.Platform = []tree.Property{{"ISA", "x"}, {"ISA", "y"}, {"OS", "linux"}}
	if encoded(t, one).Digest != encoded(t, two).Digest {
		t.Error("the order of variables, outputs or properties is in the digest")
	}
	two.Args = []string{"cc", "-o", "a", "b"}
	if encoded(t, one).Digest == encoded(t, two).Digest {
		t.Error("the order of arguments is not")
	}
	var m repb.Command
	if err := proto.Unmarshal(encoded(t, one).Bytes, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.GetOutputPaths()) != 3 || m.GetOutputPaths()[0] != "" || len(m.GetEnvironmentVariables()) != 2 || m.GetWorkingDirectory() != "work" {
		t.Errorf("%v", &m)
	}
}

func TestCommandRefuses(t *testing.T) {
	for name, c := range map[string]tree.Command{
		"an argument":     {Args: []string{"\xff"}},
		"a variable":      {Args: []string{"a"}, Env: []string{"A"}},
		"an odd value":    {Args: []string{"a"}, Env: []string{"A=\xff"}},
		"an odd output":   {Args: []string{"a"}, Outputs: []string{"\xff"}},
		"a NUL within":    {Args: []string{"a\x00b"}},
		"a variable = \"": {Args: []string{"a"}, Env: []string{"=x"}},
	} {
		if b, err := c.Blob(); err == nil {
			t.Errorf("%s: %q", name, b.Bytes)
		}
	}
}

// Everything that makes another action is in its digest.
func TestActionDigest(t *testing.T) {
	seen := map[blob.Digest]string{}
	base := tree.Action{Command: blob.Of([]byte("c")).Digest, Input: blob.Of(nil).Digest}
	for name, change := range map[string]func(*tree.Action){
		"as is":       func(*tree.Action) {},
		"a timeout":   func(a *tree.Action) { a.Timeout = time.Second },
		"a platform":  func(a *tree.Action) { a.Platform = []tree.Property{{"OS", "linux"}} },
		"an input":    func(a *tree.Action) { a.Input = blob.Of([]byte("x")).Digest },
		"its command": func(a *tree.Action) { a.Command = blob.Of([]byte("x")).Digest },
	} {
		a := base
		change(&a)
		d := encoded(t, a).Digest
		if other := seen[d]; other != "" {
			t.Errorf("%s and %s are the same action", name, other)
		}
		seen[d] = name
	}
}
