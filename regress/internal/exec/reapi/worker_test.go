package reapi_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/outcome"
	"muster/test/kits/reapitest"
)

// worker is an engine on which the tool says what it compiles, and leaves out.s.
type worker struct {
	*testing.T
	*reapitest.Engine
	end func() // of the server

	mu    sync.Mutex
	dial  func(context.Context, string) (net.Conn, error)
	fault func(reapitest.Call) error
	ran   atomic.Int32 // executions of cases
	whole string       // the output path for which it gives the whole folder
	tool  func(arguments []string) *repb.ExecuteResponse
}

func newWorker(t *testing.T, o reapitest.Options) *worker {
	w := &worker{T: t, whole: "."}
	o.Run, o.Fault = w.run, w.faulty
	w.Engine = reapitest.New(o)
	w.dial, w.end = w.Memory()
	t.Cleanup(func() {
		w.end()
		w.Engine.Close()
	})
	return w
}

func (w *worker) faulty(_ context.Context, c reapitest.Call) error {
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(c)
}

// storm has the engine fail from here on.
func (w *worker) storm(fault func(reapitest.Call) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

const assembler = "out.s"

func (w *worker) run(_ context.Context, e *reapitest.Engine, action *repb.Action, command *repb.Command) *repb.ExecuteResponse {
	arguments := command.GetArguments()
	if w.tool != nil {
		if r := w.tool(arguments); r != nil {
			return r
		}
	}
	result := &repb.ActionResult{StdoutRaw: []byte("cc 1.0\n")}
	text := blob.Of([]byte("; " + strings.Join(arguments, " ")))
	if !slices.Contains(arguments, "--version") {
		w.ran.Add(1)
		e.Put(text.Bytes)
		result.StdoutRaw = nil
	}
	switch {
	case slices.Contains(command.GetOutputPaths(), w.whole):
		tree := &repb.Tree{Root: w.work(action.GetInputRootDigest())}
		if result.StdoutRaw == nil {
			tree.Root.Files = append(tree.Root.Files, &repb.FileNode{Name: assembler, Digest: text.Digest.Proto()})
			slices.SortFunc(tree.Root.Files, func(a, b *repb.FileNode) int { return strings.Compare(a.Name, b.Name) })
		}
		packed, err := proto.Marshal(tree)
		if err != nil {
			w.Error(err)
		}
		result.OutputDirectories = []*repb.OutputDirectory{{Path: w.whole, TreeDigest: e.Put(packed).Proto()}}
	case slices.Contains(command.GetOutputPaths(), assembler):
		result.OutputFiles = []*repb.OutputFile{{Path: assembler, Digest: text.Digest.Proto()}}
	}
	return &repb.ExecuteResponse{Result: result}
}

// work is the work folder of an action, which must have no folders in it.
func (w *worker) work(root *repb.Digest) *repb.Directory {
	top, found := &repb.Directory{}, &repb.Directory{}
	w.get(root, top)
	for _, d := range top.GetDirectories() {
		if d.GetName() == "work" {
			w.get(d.GetDigest(), found)
		}
	}
	return found
}

func (w *worker) get(d *repb.Digest, m proto.Message) {
	data, ok := w.Get(reapitest.Digest{Hash: d.GetHash(), Size: d.GetSizeBytes()})
	if err := proto.Unmarshal(data, m); !ok || err != nil {
		w.Errorf("message %v: %t, %v", d, ok, err)
	}
}

// flat is a corpus without folders.
var flat = map[string]string{"HDR_a.h": "a", "x.c": "x", "y.c": "y", "z.c": "z"}

// started is an engine with a corpus and a command.
type started struct {
	*reapi.Engine
	*worker
	cases   []exec.Job
	conn    *reapi.Connection
	partial int // how often it was told that the whole folder is not to be had
}

// start connects to a worker. The error is that of Start.
func (w *worker) start(change func(*reapi.Options)) (*started, error) {
	w.Helper()
	c, err := reapi.Dial(w.Context(), reapi.Endpoint{
		URL: "grpc://localhost:1",
		Dialer: func(ctx context.Context, at string) (net.Conn, error) {
			w.mu.Lock()
			dial := w.dial
			w.mu.Unlock()
			return dial(ctx, at)
		},
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.Close)
	s, command := &started{worker: w, conn: c}, reapi.Compiler()
	corpus := reapi.OpenCorpus(w.T, flat)
	for _, e := range corpus.Cases() {
		s.cases = append(s.cases, exec.Job{Source: e, Command: command, Avoid: exec.NoLane})
	}
	o := reapi.Options{
		Corpus: corpus, Commands: []*exec.Command{command}, Jobs: 4,
		Setting: reapi.Setting{Timeout: time.Minute, OutputMax: 1 << 20},
		Doing:   func(string) {},
		Partial: func() error { s.partial++; return nil },
	}
	if change != nil {
		change(&o)
	}
	s.Engine, err = reapi.Start(w.Context(), c, o)
	return s, err
}

func (w *worker) mustStart(change func(*reapi.Options)) *started {
	w.Helper()
	s, err := w.start(change)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// wants runs a job, which must leave what the tool leaves.
func (s *started) wants(j exec.Job, cached bool) {
	s.Helper()
	r, err := exec.Run(s.Context(), s.Engine, j)
	if err != nil {
		s.Error(err)
		return
	}
	defer r.Release()
	p, ok := r.Outcome.Part(outcome.Key{Place: outcome.File, Path: assembler})
	if !ok || r.Outcome.Ending != (regress.Ending{}) || len(r.Outcome.Parts) != 3 || r.Engine.Cached != cached {
		s.Errorf("%s left %+v, cached %t", j.Source.Name, r.Outcome, r.Engine.Cached)
		return
	}
	text, err := contentOf(r, p)
	if err != nil || text != "; /usr/bin/cc "+j.Source.Name {
		s.Errorf("%s: %q, %v", j.Source.Name, text, err)
	}
}

func contentOf(r *exec.Result, p outcome.Part) (string, error) {
	f, err := r.Open(p)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(f)
	return string(text), errors.Join(err, f.Close())
}
