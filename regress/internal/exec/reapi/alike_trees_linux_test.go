package reapi

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/outcome"
	"muster/regress/lane"
)

// places are where the deeds of a drawn script are done: what withDeedsIn has, and more.
var places = []string{"HDR_a.h", "main.c", "inc", "inc/HDR_b.h", "inc/deep", "inc/deep/HDR_c.h", "inc/n", "link", "link/deep", "n", "d", "d/n", "d/e"}

// drawnScript is some deeds in a row, each of which may fail.
func drawnScript(t *rapid.T) string {
	var lines []string
	for range rapid.IntRange(1, 6).Draw(t, "deeds") {
		deed := rapid.SampledFrom([]string{
			"echo 1 >%s", "echo 22 >>%s", "printf '' >%s", "rm -rf %s", "mkdir -p %s", "chmod +x %s", "chmod -x %s", "touch %s", "cp %s t; mv t %[1]s",
			"mv %s %s", "cp -r %s t; mv t %s", "ln %s %s", "ln -s %[2]s %[1]s", "rm -r %s; ln -s %s %[1]s", "mv %s %s; ln -s %[2]s %[1]s",
		}).Draw(t, "deed")
		one, two := rapid.SampledFrom(places).Draw(t, "place"), rapid.SampledFrom(places).Draw(t, "other place")
		if !strings.Contains(deed, "[2]") && strings.Count(deed, "%s") < 2 {
			deed += "%.0[2]s"
		}
		lines = append(lines, fmt.Sprintf(deed, one, two))
	}
	return strings.Join(lines, "\n")
}

// packed is a folder as an engine packs it, and where it has the messages.
func packed(t *rapid.T, root string) (*tree.Folder, *repb.ActionResult, store) {
	var d tree.Builder
	err := filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		if err != nil || at == root {
			return err
		}
		name, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		switch e.Type() {
		case fs.ModeDir:
			return d.Folder(name)
		case fs.ModeSymlink:
			target, err := os.Readlink(at)
			return errors.Join(err, d.Link(name, target))
		}
		text, err := os.ReadFile(at)
		info, err2 := e.Info()
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		return d.File(name, tree.File{Digest: blob.Of(text).Digest, Exec: info.Mode()&0o100 != 0})
	})
	folder, err2 := d.Build()
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	var all repb.Tree
	for b := range folder.Blobs {
		var m repb.Directory
		if err := proto.Unmarshal(b.Bytes, &m); err != nil {
			t.Fatal(err)
		}
		if all.Children = append(all.Children, &m); b.Digest == folder.Digest() {
			all.Root = &m
		}
	}
	text, err := proto.Marshal(&all)
	if err != nil {
		t.Fatal(err)
	}
	b := blob.Of(text)
	return folder, &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{TreeDigest: b.Digest.Proto()}}}, store{b.Digest: b.Bytes}
}

// Whatever a case does to its folder, what an engine packs of it comes, by its digests, to
// the outcome that a lane finds.
func TestTreesTellWhatLanesFind(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of processes")
	}
	c := withDeedsIn(t)
	crew, err := local.Start(t.Context(), local.Options{
		Lanes: 1, Helper: []string{os.Args[0], lane.Argument}, Corpus: c, Timeout: time.Minute, Grace: time.Second, OutputMax: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := crew.Close(); err != nil {
			t.Error(err)
		}
	}()
	command, err := exec.Resolve([]string{"/bin/sh", "-c", "x", "sh", "{in}"}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		script := "{ " + drawnScript(t) + "\n} 2>/dev/null; exit 0"
		its := *command
		its.Words = []string{"/bin/sh", "-c", script, "sh", "{in}"}
		inLane, err := exec.Run(t.Context(), crew, exec.Job{Source: c.Cases()[0], Command: &its, Avoid: exec.NoLane})
		if err != nil {
			t.Fatal(err)
		}
		defer inLane.Release()
		found := byScript(t, c, script)
		want := slices.DeleteFunc(slices.Clone(inLane.Outcome.Parts), func(p outcome.Part) bool { return p.Place != outcome.File })
		if !slices.EqualFunc(found, want, func(l tree.Output, p outcome.Part) bool { return reflect.DeepEqual(l.Part, p) }) {
			t.Fatalf("%s\nin a lane  %+v\nby digests %+v", script, want, found)
		}
	})
}

// byScript does the script in a folder like a case's, and compares by digests.
func byScript(t *rapid.T, c *corpus.Corpus, script string) []tree.Output {
	root, err := os.MkdirTemp("", "muster-trees-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	for _, e := range slices.Concat(c.Given(), c.Cases()) {
		at := filepath.Join(root, e.Name)
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		if e.IsLink {
			err = errors.Join(err, os.Symlink(e.Path, at))
		} else {
			err = errors.Join(err, written(c, e, at))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	given, _, _ := packed(t, root)
	cmd := osexec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, r, on := packed(t, root)
	compare := tree.Outputs{Before: given, Whole: true, Read: on.contents().read}
	left, err := compare.Of(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func written(c *corpus.Corpus, e corpus.Entry, at string) error {
	r, err := c.Open(e)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(r)
	mode := os.FileMode(0o644)
	if e.Exec {
		mode = 0o755
	}
	return errors.Join(err, r.Close(), os.WriteFile(at, text, mode))
}
