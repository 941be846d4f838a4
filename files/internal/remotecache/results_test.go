package remotecache_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"muster/files"
	"muster/test/kits/enginetest"
)

func (r *rig) result(at string, action *repb.Digest) (*repb.ActionResult, error) {
	return r.ac.GetActionResult(r.Context(), &repb.GetActionResultRequest{InstanceName: at, ActionDigest: action})
}

// A result is a miss as soon as anything that it names is gone, and a hit when it is back.
func TestResults(t *testing.T) {
	r := newRig(t, files.Options{})
	const at = "team"
	contents := map[string][]byte{}
	put := func(what string, data []byte) *repb.Digest {
		contents[what] = data
		return r.put(at, data)
	}
	message := func(what string, m proto.Message) *repb.Digest {
		data, err := proto.Marshal(m)
		r.must(err)
		return put(what, data)
	}
	file := func(what string) *repb.FileNode {
		return &repb.FileNode{Name: what, Digest: put(what, []byte(what))}
	}
	tree := &repb.Tree{
		Root: &repb.Directory{Files: []*repb.FileNode{file("a file of the root"), {Name: "empty", Digest: digestOf(nil)}}},
		Children: []*repb.Directory{
			{Files: []*repb.FileNode{file("a file of a child")}, NodeProperties: &repb.NodeProperties{Properties: []*repb.NodeProperty{{Name: "x", Value: "y"}}}},
			{Symlinks: []*repb.SymlinkNode{{Name: "link", Target: "elsewhere"}}},
		},
	}
	leaf := message("a folder", &repb.Directory{Files: []*repb.FileNode{file("a file of a folder")}})
	root := message("a root folder", &repb.Directory{Directories: []*repb.DirectoryNode{{Name: "d", Digest: leaf}}})
	want := &repb.ActionResult{
		OutputFiles: []*repb.OutputFile{{Path: "out", Digest: put("an output", enginetest.Content(1, 300_000)), IsExecutable: true}},
		OutputDirectories: []*repb.OutputDirectory{
			{Path: "tree", TreeDigest: message("a tree", tree)}, {Path: "folders", RootDirectoryDigest: root}, {Path: "none", TreeDigest: digestOf(nil)},
		},
		StdoutDigest: put("standard output", []byte("1")), StderrDigest: put("standard error", []byte("2")),
		ExitCode: 7, StdoutRaw: []byte("1"),
	}
	action := digestOf([]byte("an action"))
	_, err := r.result(at, action)
	r.wants("before", err, codes.NotFound)
	_, err = r.ac.UpdateActionResult(t.Context(), &repb.UpdateActionResultRequest{InstanceName: at, ActionDigest: action, ActionResult: want})
	r.must(err)
	hit := func(what string) {
		t.Helper()
		got, err := r.result(at, action)
		if err != nil || !proto.Equal(got, want) {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	hit("at first")
	_, err = r.result("", action)
	r.wants("another instance", err, codes.NotFound)
	for what, data := range contents {
		name := at + "/cas/" + digestOf(data).Hash
		if code, _ := r.http("DELETE", name, nil); code != 204 {
			t.Fatal(what, code)
		}
		_, err := r.result(at, action)
		r.wants("without "+what, err, codes.NotFound)
		if code, _ := r.http("PUT", name, data[:len(data)-1]); code != 204 {
			t.Fatal(what, code)
		}
		_, err = r.result(at, action)
		r.wants("with a part of "+what, err, codes.NotFound)
		r.http("PUT", name, data)
		hit("with " + what + " again")
	}

	// A message of another kind at the place of a tree, and other data at that of a result.
	name := at + "/cas/" + digestOf(contents["a tree"]).Hash
	r.http("PUT", name, []byte("\x0a\xff\xff\xff\xff\x0f"+string(contents["a tree"][6:])))
	_, err = r.result(at, action)
	r.wants("a damaged tree", err, codes.NotFound)
	r.http("PUT", name, contents["a tree"])
	for _, data := range [][]byte{[]byte("\xff"), enginetest.Content(1, 3_000_000)} {
		r.http("PUT", at+"/ac/"+action.Hash, data)
		_, err = r.result(at, action)
		r.wants("a damaged result", err, codes.NotFound)
	}
}

func TestHostileResults(t *testing.T) {
	r := newRig(t, files.Options{})
	action := digestOf([]byte("an action"))
	for what, row := range map[string]*repb.UpdateActionResultRequest{
		"a hostile instance": {InstanceName: "a/../b", ActionDigest: action},
		"no action":          {},
		"a hostile action":   {ActionDigest: &repb.Digest{Hash: "../../../../etc/passwd", SizeBytes: 1}},
		"no digest":          {ActionDigest: action, ActionResult: &repb.ActionResult{OutputFiles: []*repb.OutputFile{{Path: "x"}}}},
		"a negative size":    {ActionDigest: action, ActionResult: &repb.ActionResult{StdoutDigest: &repb.Digest{Hash: action.Hash, SizeBytes: -1}}},
		"a hostile digest":   {ActionDigest: action, ActionResult: &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{TreeDigest: &repb.Digest{Hash: "..", SizeBytes: 1}}}}},
	} {
		_, err := r.ac.UpdateActionResult(t.Context(), row)
		r.wants(what, err, codes.InvalidArgument)
	}
	_, err := r.result("a/../b", action)
	r.wants("getting from a hostile instance", err, codes.InvalidArgument)

	// A result that names one content more often than outputs are checked.
	d := r.put("", []byte("x"))
	folder := &repb.Directory{}
	for i := range 1000 {
		folder.Files = append(folder.Files, &repb.FileNode{Name: fmt.Sprint(i), Digest: d})
	}
	tree := &repb.Tree{Root: folder}
	for range 10 {
		tree.Children = append(tree.Children, folder)
	}
	large := &repb.ActionResult{}
	for i := range 10 {
		large.OutputDirectories = append(large.OutputDirectories, &repb.OutputDirectory{Path: fmt.Sprint(i), TreeDigest: r.message("", tree)})
	}
	_, err = r.ac.UpdateActionResult(t.Context(), &repb.UpdateActionResultRequest{ActionDigest: action, ActionResult: large})
	r.must(err)
	_, err = r.result("", action)
	r.wants("too many outputs", err, codes.NotFound)

	// A result that names a message without a content so often that reading it takes minutes.
	message := r.message("", &repb.Directory{NodeProperties: &repb.NodeProperties{Properties: []*repb.NodeProperty{{Name: strings.Repeat("x", 1_000_000)}}}})
	for _, one := range []*repb.OutputDirectory{{TreeDigest: message}, {RootDirectoryDigest: message}} {
		for many, code := range map[int]codes.Code{3: codes.OK, 70: codes.NotFound} {
			result := &repb.ActionResult{OutputDirectories: slices.Repeat([]*repb.OutputDirectory{one}, many)}
			_, err = r.ac.UpdateActionResult(t.Context(), &repb.UpdateActionResultRequest{ActionDigest: action, ActionResult: result})
			r.must(err)
			_, err = r.result("", action)
			r.wants(fmt.Sprint(one, many), err, code)
		}
	}
}

// A large result needs memory of its own, and comes all the same.
func TestLargeResult(t *testing.T) {
	r := newRig(t, files.Options{})
	want := &repb.ActionResult{}
	d := r.put("", []byte("x"))
	for i := range 10_000 {
		want.OutputFiles = append(want.OutputFiles, &repb.OutputFile{Path: fmt.Sprint("some/folder/of/outputs/", i), Digest: d})
	}
	action := digestOf([]byte("an action"))
	_, err := r.ac.UpdateActionResult(t.Context(), &repb.UpdateActionResultRequest{ActionDigest: action, ActionResult: want})
	r.must(err)
	if got, err := r.result("", action); err != nil || !proto.Equal(got, want) {
		t.Errorf("%d outputs, %v", len(got.GetOutputFiles()), err)
	}
}

// tree returns the folders of all answers, and how many answers there were.
func (r *rig) tree(request *repb.GetTreeRequest) (folders []*repb.Directory, answers int, err error) {
	stream, err := r.cas.GetTree(r.Context(), request)
	r.must(err)
	for {
		answer, err := stream.Recv()
		if err == io.EOF {
			return folders, answers, nil
		}
		if err != nil {
			return folders, answers, err
		}
		folders = append(folders, answer.Directories...)
		answers++
	}
}

func TestGetTree(t *testing.T) {
	r := newRig(t, files.Options{})
	gone := digestOf([]byte("gone"))
	// Each folder contains the next one twice: 2^40 paths, and 41 folders.
	d := r.message("", &repb.Directory{Directories: []*repb.DirectoryNode{{Name: "gone", Digest: gone}, {Name: "empty", Digest: digestOf(nil)}}})
	for range 40 {
		d = r.message("", &repb.Directory{Directories: []*repb.DirectoryNode{{Name: "a", Digest: d}, {Name: "b", Digest: d}}})
	}
	folders, answers, err := r.tree(&repb.GetTreeRequest{RootDigest: d})
	if err != nil || len(folders) != 42 || answers != 1 || folders[0].Directories[1].Name != "b" {
		t.Errorf("%d folders in %d answers, %v", len(folders), answers, err)
	}
	if _, answers, err := r.tree(&repb.GetTreeRequest{RootDigest: d, PageSize: 10}); err != nil || answers != 5 {
		t.Errorf("%d answers, %v", answers, err)
	}
	for what, row := range map[string]struct {
		request *repb.GetTreeRequest
		code    codes.Code
	}{
		"no root":          {&repb.GetTreeRequest{RootDigest: gone}, codes.NotFound},
		"no digest":        {&repb.GetTreeRequest{}, codes.InvalidArgument},
		"a page token":     {&repb.GetTreeRequest{RootDigest: d, PageToken: "x"}, codes.InvalidArgument},
		"a large root":     {&repb.GetTreeRequest{RootDigest: &repb.Digest{Hash: gone.Hash, SizeBytes: 1 << 40}}, codes.NotFound},
		"no folder":        {&repb.GetTreeRequest{RootDigest: r.put("", []byte("\xffx"))}, codes.InvalidArgument},
		"an element bomb":  {&repb.GetTreeRequest{RootDigest: r.put("", bytes.Repeat([]byte("\x0a\x00"), 500_000))}, codes.InvalidArgument},
		"a hostile folder": {&repb.GetTreeRequest{RootDigest: r.message("", &repb.Directory{Directories: []*repb.DirectoryNode{{Digest: &repb.Digest{Hash: "..", SizeBytes: 3}}}})}, codes.InvalidArgument},
	} {
		_, _, err := r.tree(row.request)
		r.wants(what, err, row.code)
	}
	if folders, _, err := r.tree(&repb.GetTreeRequest{RootDigest: digestOf(nil)}); err != nil || len(folders) != 1 {
		t.Error(folders, err)
	}
}
