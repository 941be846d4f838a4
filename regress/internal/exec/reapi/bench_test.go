package reapi

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/tree"
)

// BenchmarkCase is what a case costs here beside the requests: a source of 65 KB between
// 200 headers, to an action, and its result, a Tree with one file more, to an outcome.
func BenchmarkCase(b *testing.B) {
	dir := b.TempDir()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	var left tree.Draft
	put := func(name, text string) {
		must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		must(left.File(name, tree.File{Digest: blob.Of([]byte(text)).Digest}))
	}
	for i := range 200 {
		put(fmt.Sprintf("HDR_%03d.h", i), fmt.Sprint(i))
	}
	put("main.c", fmt.Sprintf("%65000d", 1))
	must(left.File("main.c.out", tree.File{Digest: blob.Of([]byte("object")).Digest}))
	c, err := corpus.Open(b.Context(), corpus.Options{Path: dir})
	must(err)
	g, err := readSharedInputs(b.Context(), c)
	must(err)
	sent, err := bundle.Make(b.Context(), bundle.Options{Command: Compiler()})
	must(err)
	a, err := newActionBuilder(g, sent, setting())
	must(err)
	a.whole = emptyPath
	folder, err := left.Done()
	must(err)
	var m repb.Tree
	for one := range folder.Blobs {
		m.Root = &repb.Directory{}
		must(proto.Unmarshal(one.Bytes, m.Root))
	}
	text, err := proto.Marshal(&m)
	must(err)
	message := blob.Of(text)
	on := store{message.Digest: text}
	resp := response{result: &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{TreeDigest: message.Digest.Proto()}}}}
	for b.Loop() {
		x, err := a.build(exec.Job{Source: c.Cases()[0], Command: Compiler()})
		must(err)
		r, err := x.resultOf(b.Context(), resp, on.contents())
		must(err)
		r.Release()
	}
}
