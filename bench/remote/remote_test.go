package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"muster/bench/timing"
)

// Everything is measured once over a few cases, with the present program and an engine that
// takes no time. The figures do not matter here, only that all of them exist.
func TestTiny(t *testing.T) {
	m, _ := serve(t)
	dir := t.TempDir()
	muster := filepath.Join(dir, "muster")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", muster, "muster/cmd/muster").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var out, progress bytes.Buffer
	if err := run(t.Context(), []string{"-tiny", "-muster", muster, "-address", m.addr, "-work", dir}, &out, &progress); err != nil {
		t.Fatalf("%v\n%s", err, progress.Bytes())
	}
	for _, want := range []string{
		`\| small \| 5 \| executed by the engine \| \d+\.\d\d \| 0\.00 \| \d+ \| [1-9]\d*\.\d\d \| [1-9]\d+ \| [1-9]\d+ \|`,
		`\| small \| 20 \| all known \| \d+\.\d\d \| 0\.00 \| [1-9]\d* \| [1-9]\d*\.\d\d \| [1-9]\d+ \| [1-9]\d+ \|`,
		`\| large \| 20 \| another tool, sources are there \|`,
		`\| \*\*muster check\*\* \| 8 \|`,
		`another tool: [1-9]\d+ look-ups in [1-9]\d* requests`,
		`\| all known, small sources \| \d+\.\d million \|`,
		`as a part of the corpus \| \d+\.\d\d % \| at most 5 % \| met \|`,
	} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("no %s in\n%s", want, out.Bytes())
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "muster-remote-*")); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}

// The wire changes nothing, answers and refusals, and counts what passed.
func TestWire(t *testing.T) {
	m, b := serve(t)
	x, err := listen(t.Context(), m.addr, newWorker(b.conns[0]))
	if err != nil {
		t.Fatal(err)
	}
	through, err := dialBare(x.addr, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorker(through.conns[0])
	text := bytes.Repeat([]byte("0123456789"), 1000)
	if err := w.store(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	if got, ok := m.get(digest(text)); !ok || !bytes.Equal(got, text) {
		t.Errorf("%d bytes came, %v", len(got), ok)
	}
	_, err = through.cache[0].GetActionResult(t.Context(), &repb.GetActionResultRequest{ActionDigest: digest(text)})
	if s := status.Convert(err); s.Code() != codes.NotFound || s.Message() != "no such result" {
		t.Errorf("a refusal came as %v", err)
	}
	if _, err := through.cas.FindMissingBlobs(t.Context(), &repb.FindMissingBlobsRequest{BlobDigests: []*repb.Digest{digest(text), digest(nil)}}); err != nil {
		t.Error(err)
	}
	if err := through.close(); err != nil {
		t.Error(err)
	}
	if err := x.close(); err != nil {
		t.Error(err)
	}
	got := x.reset()
	if got.requests != 3 || got.methods["BatchUpdateBlobs"].count != 1 || got.methods["BatchUpdateBlobs"].sent < 10_000 ||
		got.sent < 10_000 || got.sent > 13_000 || got.received == 0 || got.received > 3_000 || countLookups(got.lookups) != 2 {
		t.Errorf("%+v", got)
	}
	if again := x.reset(); again.requests != 0 || again.sent != 0 || len(again.lookups) != 0 {
		t.Errorf("after a reset %+v", again)
	}
}

// The stand-in leaves what the tool would: the source's size in a file beside it, with the
// folders above it changed and no other.
func TestWorker(t *testing.T) {
	m, b := serve(t)
	w := m.worker
	put := func(message proto.Message) *repb.Digest {
		text, err := proto.Marshal(message)
		if err == nil {
			err = w.store(t.Context(), text)
		}
		if err != nil {
			t.Fatal(err)
		}
		return digest(text)
	}
	source := []byte("source")
	deep := &repb.Directory{Files: []*repb.FileNode{{Name: "p.c", Digest: digest(source)}, {Name: "z", Digest: digest(nil)}}}
	src := &repb.Directory{Directories: []*repb.DirectoryNode{{Name: "a", Digest: put(deep)}}}
	top := &repb.Directory{Directories: []*repb.DirectoryNode{{Name: "src", Digest: put(src)}}}
	root := &repb.Directory{Directories: []*repb.DirectoryNode{{Name: "tool", Digest: digest(nil)}, {Name: "work", Digest: put(top)}}}
	command := &repb.Command{Arguments: []string{"./tool", "src/a/p.c"}, WorkingDirectory: "work"}
	action := put(&repb.Action{CommandDigest: put(command), InputRootDigest: put(root)})
	request, err := proto.Marshal(&repb.ExecuteRequest{ActionDigest: action})
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := w.execute(t.Context(), request); err != nil || answer == nil {
		t.Fatalf("%q, %v", answer, err)
	}
	if did := w.took(); len(did) != 1 || !proto.Equal(did[0], action) || len(w.took()) != 0 {
		t.Errorf("it did %v", did)
	}
	result, err := b.cache[0].GetActionResult(t.Context(), &repb.GetActionResultRequest{ActionDigest: action})
	if err != nil {
		t.Fatal(err)
	}
	var tree repb.Tree
	if err := w.read(t.Context(), result.GetOutputDirectories()[0].GetTreeDigest(), &tree); err != nil {
		t.Fatal(err)
	}
	left := []byte("6\n")
	deep.Files = []*repb.FileNode{deep.Files[0], {Name: "p.c.out", Digest: digest(left)}, deep.Files[1]}
	src.Directories[0].Digest = put(deep)
	top.Directories[0].Digest = put(src)
	if want := (&repb.Tree{Root: top, Children: []*repb.Directory{src, deep}}); !proto.Equal(&tree, want) {
		t.Errorf("it left %v, want %v", &tree, want)
	}
	if text, ok := m.get(digest(left)); !ok || !bytes.Equal(text, left) {
		t.Errorf("the file is %q, %v", text, ok)
	}
	if took, err := b.results(t.Context(), []*repb.Digest{action, action}, 3, true); err != nil || took <= 0 || m.asked != 3 {
		t.Errorf("%v, %v; %d results were asked for", took, err, m.asked)
	}
	if _, err := b.results(t.Context(), []*repb.Digest{digest(left)}, 1, false); status.Code(err) == codes.OK {
		t.Error("a result that is not there is no error")
	}
}

// The script that real workers run does the same.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	tool, source := filepath.Join(dir, "tool"), filepath.Join(dir, "p.c")
	for name, text := range map[string]string{tool: script, source: "source"} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "/bin/sh", tool, source).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%q, %v", out, err)
	}
	if text, err := os.ReadFile(source + ".out"); err != nil || !bytes.Equal(text, leaves(6)) {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-executed", "0"}, {"-what"}, {"more"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	if _, err := parse([]string{"-h"}, io.Discard); err != flag.ErrHelp {
		t.Errorf("-h: %v", err)
	}
	o, err := parse([]string{"-muster", "bin/m"}, io.Discard)
	if err != nil || o.rounds != 3 || o.large.Cases != 15_000 || o.sizes[len(o.sizes)-1] != 15_000 || !filepath.IsAbs(o.muster) {
		t.Errorf("%+v, %v", o, err)
	}
}

// A goal is missed by what is above it, and a projection grows with what a case takes.
func TestGoalsAndProjection(t *testing.T) {
	a := ran{Sample: timing.Sample{Wall: 21 * time.Second, User: time.Second}, cases: 1000, peak: 40e6, traffic: traffic{sent: 5e6, requests: 2000}}
	z := a
	z.cases, z.peak, z.User = 2000, 41e6, 5*time.Second
	m := &measured{
		sizes: []row{
			{"small", "executed by the engine", []ran{a}},
			{"small", "executed by the stand-in", []ran{a}}, {"small", "executed by the stand-in", []ran{z}},
			{"small", "all known", []ran{a}}, {"small", "all known", []ran{z}},
		},
		known: []timed{{name: "muster", rounds: []ran{z}}, {name: "bare", rounds: []ran{{Sample: timing.Sample{Wall: 20 * time.Second}}}}}, lookups: []time.Duration{time.Second}, there: a,
	}
	var b strings.Builder
	on := &bench{out: &b}
	on.large.Bytes = 1e9
	on.goals(m)
	on.project(m)
	for _, want := range []string{
		"engine executes | 1.00 ms | at most 2 ms | met |",
		"case that is known | 2.50 ms | at most 2 ms | **not met** |",
		"2000 cases that are all known | 21.00 s | at most 20 s | **not met** |",
		"which files there are | 1.05 × | at most 1.25 × | met |",
		"there | 1.00 s | at most 2 s | met |",
		"of the corpus | 0.50 % | at most 5 % | met |",
		"| first run, small sources | 1.0 million | 2.5 | 0.0 | 0.69 | 1039 |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestFigures(t *testing.T) {
	if e := (&engine{}); e.cpu() != 0 || e.stop() != nil {
		t.Error("an engine at an address is not ours")
	}
	if got := fmt.Sprintf("%.1f", each(3*time.Second, 1500)); got != "2.0" {
		t.Errorf("%s ms", got)
	}
}
