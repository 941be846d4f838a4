package reapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/enginetest"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// worker is an engine on which the tool says what it compiles, and leaves out.s.
type worker struct {
	*testing.T
	*enginetest.Engine
	end func() // of the server

	mu    sync.Mutex
	dial  func(context.Context, string) (net.Conn, error)
	fault func(enginetest.Call) error
	ran   atomic.Int32 // executions of cases
	whole string       // the output path for which it gives the whole folder
	tool  func(arguments []string) *repb.ExecuteResponse
}

func newWorker(t *testing.T, o enginetest.Options) *worker {
	w := &worker{T: t, whole: "."}
	o.Run, o.Fault = w.run, w.faulty
	w.Engine = enginetest.New(o)
	w.dial, w.end = w.Memory()
	t.Cleanup(func() {
		w.end()
		w.Engine.Close()
	})
	return w
}

func (w *worker) faulty(_ context.Context, c enginetest.Call) error {
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(c)
}

// storm has the engine fail from here on.
func (w *worker) storm(fault func(enginetest.Call) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

const assembler = "out.s"

func (w *worker) run(_ context.Context, e *enginetest.Engine, action *repb.Action, command *repb.Command) *repb.ExecuteResponse {
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
	digest, err := blob.FromProto(d)
	data, ok := w.Get(digest)
	if err = errors.Join(err, proto.Unmarshal(data, m)); !ok || err != nil {
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
	c, err := reapi.Dial(w.Context(), reapi.Place{
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
	s, command := &started{worker: w, conn: c}, tool()
	corpus := opened(w.T, flat)
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
	s.Engine, err = c.Start(w.Context(), o)
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
	r, err := s.Run(s.Context(), j)
	if err != nil {
		s.Error(err)
		return
	}
	defer r.Release()
	p, ok := r.Outcome.Part(outcome.Key{Place: outcome.File, Path: assembler})
	if !ok || r.Outcome.Ending != (outcome.Ending{}) || len(r.Outcome.Parts) != 3 || r.Remote.Cached != cached {
		s.Errorf("%s left %+v, cached %t", j.Source.Name, r.Outcome, r.Remote.Cached)
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

// What the engine knows is not run again, unless it is to be.
func TestRunsOnceUnlessFresh(t *testing.T) {
	w := newWorker(t, enginetest.Options{})
	s := w.mustStart(nil)
	if !s.Whole() || s.Floor() != 0 || s.OwnCPU() != 0 {
		t.Error("the whole folder can be had")
	}
	for _, j := range s.cases {
		s.wants(j, false)
		s.wants(j, true)
		j.Fresh = true
		s.wants(j, false)
	}
	if n := int(w.ran.Load()); n != 2*len(s.cases) {
		t.Errorf("%d executions of %d cases", n, len(s.cases))
	}
	// Another run has nothing to send but what shows that the tool runs.
	sent := w.Calls("BatchUpdateBlobs")
	again := w.mustStart(nil)
	for _, j := range again.cases {
		again.wants(j, true)
	}
	if n := w.Calls("BatchUpdateBlobs") - sent; n != 0 {
		t.Errorf("%d uploads of what is there", n)
	}
	if s.Preflight() != again.Preflight() || s.Shared() != again.Shared() {
		t.Error("the same has another digest")
	}
}

// A result that the engine knows and cannot read is made once more; trouble is not passed over.
func TestKnownAndUnreadable(t *testing.T) {
	w := newWorker(t, enginetest.Options{})
	s := w.mustStart(nil)
	s.wants(s.cases[0], false)
	code := codes.Unknown
	w.storm(func(c enginetest.Call) error {
		if c.Method == "GetActionResult" {
			return status.Error(code, "what is this")
		}
		return nil
	})
	s.wants(s.cases[0], false)
	code = codes.PermissionDenied
	if r, err := s.Run(t.Context(), s.cases[0]); fault.ClassOf(err) != fault.Environment {
		t.Errorf("%v, %v", r, err)
	}
}

// Whichever way the engine has to give the whole folder is found.
func TestWholeFolder(t *testing.T) {
	for _, whole := range []string{"", ".", "no way"} {
		w := newWorker(t, enginetest.Options{})
		w.whole = whole
		s := w.mustStart(func(o *reapi.Options) {
			o.Setting.Outputs = func(exec.Job) ([]string, func(string) bool) { return []string{assembler}, nil }
		})
		if told := s.partial == 1; told != (whole == "no way") || told == s.Whole() {
			t.Errorf("%q: the whole folder is given: %t, told %d times that not", whole, s.Whole(), s.partial)
		}
		s.wants(s.cases[0], false)
	}
}

// Of an engine that gives a folder for a name, what nobody asked for does not count.
func TestFolderForName(t *testing.T) {
	w := newWorker(t, enginetest.Options{})
	w.whole = assembler // the folder has a file of that name
	counts := func(at string) bool { return at == assembler+"/"+assembler }
	for _, counts := range []func(string) bool{nil, counts, func(string) bool { return false }} {
		s := w.mustStart(func(o *reapi.Options) {
			o.Setting.Outputs = func(exec.Job) ([]string, func(string) bool) { return []string{assembler}, counts }
		})
		r, err := s.Run(t.Context(), s.cases[0])
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, p := range r.Outcome.Parts {
			if p.Place == outcome.File {
				left = append(left, p.Path)
			}
		}
		r.Release()
		want := []string{"out.s/HDR_a.h", "out.s/out.s", "out.s/x.c"}
		if counts != nil {
			want = slices.DeleteFunc(want, func(at string) bool { return !counts(at) })
		}
		if !slices.Equal(left, want) {
			t.Errorf("%q, want %q", left, want)
		}
	}
}

func TestWholeFolderRefused(t *testing.T) {
	for _, code := range []codes.Code{codes.InvalidArgument, codes.Unimplemented, codes.Internal} {
		w := newWorker(t, enginetest.Options{})
		w.storm(func(c enginetest.Call) error {
			if c.Method == "Execute" && c.Number == 1 && c.Moment == enginetest.Begin {
				return status.Error(code, "an empty output path")
			}
			return nil
		})
		s := w.mustStart(nil)
		if !s.Whole() {
			t.Errorf("%v: it gives the whole folder by another name", code)
		}
	}
}

// A tool that does not run is the environment's fault, told in its own words, and no case
// runs.
func TestPreflightFails(t *testing.T) {
	for _, c := range []struct {
		response *repb.ExecuteResponse
		says     string
	}{
		{&repb.ExecuteResponse{Result: &repb.ActionResult{ExitCode: 127, StderrRaw: []byte("sh: cc:\n\x1b not found\n")}}, "its preflight /usr/bin/cc --version ended with exit 127: sh: cc: %1B not found"},
		{&repb.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.InvalidArgument), Message: "no such container"}}, "no such container"},
		{&repb.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.DeadlineExceeded)}, Result: &repb.ActionResult{}}, "timed-out"},
	} {
		w := newWorker(t, enginetest.Options{})
		w.tool = func([]string) *repb.ExecuteResponse { return c.response }
		_, err := w.start(nil)
		if fault.ClassOf(err) != fault.Environment || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
		if n := w.Calls("Execute"); c.response.Result != nil && n != 1 {
			t.Errorf("%s: it ran %d times", c.says, n)
		}
	}
}

func TestPreflightOfChoice(t *testing.T) {
	w := newWorker(t, enginetest.Options{})
	var said []string
	w.tool = func(arguments []string) *repb.ExecuteResponse {
		if len(said) == 0 {
			said = arguments
		}
		return nil
	}
	w.mustStart(func(o *reapi.Options) { o.Preflight = []string{"/usr/bin/cc", "-v", "--version"} })
	if !slices.Equal(said, []string{"/usr/bin/cc", "-v", "--version"}) {
		t.Errorf("%q", said)
	}
}

// Inputs and outputs that the engine loses are sent and made again; not for ever.
func TestEvicted(t *testing.T) {
	w := newWorker(t, enginetest.Options{})
	s := w.mustStart(nil)
	w.Evict()
	s.wants(s.cases[0], false) // what all share is gone
	w.Evict()
	s.wants(s.cases[0], false) // the result is known, and the folder that it names is gone

	r, err := s.Run(t.Context(), s.cases[1])
	if err != nil {
		t.Fatal(err)
	}
	w.Evict()
	p, _ := r.Outcome.Part(outcome.Key{Place: outcome.File, Path: assembler})
	if text, err := contentOf(r, p); err != nil || text != "; /usr/bin/cc y.c" {
		t.Errorf("an output that was gone: %q, %v", text, err)
	}
	w.storm(func(c enginetest.Call) error {
		if c.Method == "Execute" && c.Moment == enginetest.Begin {
			w.Evict()
		}
		return nil
	})
	if _, err := s.Run(t.Context(), s.cases[2]); fault.ClassOf(err) != fault.Environment {
		t.Errorf("an engine that keeps nothing: %v", err)
	}
}

// In any weather each case has the outcome that it has.
func TestWeather(t *testing.T) {
	for _, moment := range []enginetest.Moment{enginetest.Begin, enginetest.Received, enginetest.Sending, enginetest.End} {
		w := newWorker(t, enginetest.Options{})
		w.storm(func(c enginetest.Call) error {
			if c.Moment == moment && c.Number%3 == 1 {
				return status.Error(codes.Unavailable, "as the test wants it")
			}
			return nil
		})
		s := w.mustStart(nil)
		var all sync.WaitGroup
		for _, j := range s.cases {
			j.Fresh = true
			all.Go(func() { s.wants(j, false) })
		}
		all.Wait()
	}
}

// Killed and started again while cases run: they go on.
func TestRestarted(t *testing.T) {
	w := newWorker(t, enginetest.Options{})
	s := w.mustStart(nil)
	var once sync.Once
	w.tool = func([]string) *repb.ExecuteResponse {
		once.Do(func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.end()
			w.dial, w.end = w.Memory()
		})
		return nil
	}
	var all sync.WaitGroup
	for _, j := range s.cases {
		j.Fresh = true
		all.Go(func() { s.wants(j, false) })
	}
	all.Wait()
}

// What the engine says of a case that it could not run is no verdict, and a limit is one.
func TestEngineEndings(t *testing.T) {
	for _, c := range []struct {
		response *repb.ExecuteResponse
		want     outcome.Ending
		class    fault.Class
	}{
		{&repb.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.DeadlineExceeded)}, Result: &repb.ActionResult{}}, outcome.Ending{Kind: outcome.TimedOut}, fault.None},
		{&repb.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.PermissionDenied), Message: "no"}}, outcome.Ending{}, fault.Environment},
		{&repb.ExecuteResponse{Result: &repb.ActionResult{ExitCode: -1}}, outcome.Ending{}, fault.Environment},
	} {
		w := newWorker(t, enginetest.Options{})
		s := w.mustStart(nil)
		w.tool = func([]string) *repb.ExecuteResponse { return c.response }
		r, err := s.Run(t.Context(), s.cases[0])
		if fault.ClassOf(err) != c.class || err == nil && r.Outcome.Ending != c.want {
			t.Errorf("%v: %v", c.response, err)
		}
	}
}

// An interrupt ends a run, and is nobody's fault.
func TestInterrupted(t *testing.T) {
	w := newWorker(t, enginetest.Options{})
	s := w.mustStart(nil)
	ctx, cancel := context.WithCancel(t.Context())
	w.tool = func([]string) *repb.ExecuteResponse {
		cancel()
		return nil
	}
	j := s.cases[0]
	j.Fresh = true
	if r, err := s.Run(ctx, j); err == nil {
		r.Release() // it was quicker
	} else if fault.ClassOf(err) != fault.Interrupted {
		t.Errorf("%v", err)
	}
}

// While a run is under way the engine's stage is known, and afterwards how long it took and
// what went over the network.
func TestStateOfRuns(t *testing.T) {
	w := newWorker(t, enginetest.Options{})
	running, end := make(chan struct{}), make(chan struct{})
	w.tool = func(arguments []string) *repb.ExecuteResponse {
		if !slices.Contains(arguments, "--version") {
			close(running)
			<-end
		}
		return nil
	}
	var did []string
	s := w.mustStart(func(o *reapi.Options) { o.Doing = func(what string) { did = append(did, what) } })
	if all := strings.Join(did, "; "); !strings.Contains(all, "sending what all cases share, ") || !strings.Contains(all, "its preflight, /usr/bin/cc --version") {
		t.Errorf("it said that it did %q", did)
	}
	done := make(chan *exec.Result)
	go func() {
		defer close(done)
		r, err := s.Run(t.Context(), s.cases[0])
		if err != nil {
			t.Error(err)
			return
		}
		done <- r
	}()
	<-running
	// The stage comes on its own: it is waited for.
	for s.State() != (reapi.State{Asked: 1, Running: 1}) && t.Context().Err() == nil {
		runtime.Gosched()
	}
	close(end)
	r := <-done
	if r == nil || r.Remote.Asked <= 0 || s.State() != (reapi.State{}) {
		t.Fatalf("%+v, and then %+v", r, s.State())
	}
	r.Release()
	if sent, received := s.conn.Traffic(); sent < 100 || received < 100 {
		t.Errorf("%d bytes sent, %d received", sent, received)
	}
}

// Where nothing is known for a while, results are no longer asked for before the executions;
// and are again when one was spared.
func TestAskingForResults(t *testing.T) {
	w := newWorker(t, enginetest.Options{})
	s := w.mustStart(nil)
	job := s.cases[0]
	run := func(text string, fresh bool) (cached bool) {
		t.Helper()
		job.Content, job.Fresh = []byte(text), fresh
		r, err := s.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		return r.Remote.Cached
	}
	asked := func(of func()) int {
		before := w.Calls("GetActionResult")
		of()
		return w.Calls("GetActionResult") - before
	}
	if n := asked(func() {
		for i := range 40 {
			if run(fmt.Sprint(i), false) {
				t.Errorf("%d was known", i)
			}
		}
	}); n != 32 {
		t.Errorf("40 results that are not known were asked for %d times", n)
	}
	if n := asked(func() {
		if !run("1", false) {
			t.Error("what the engine spared itself counts as run")
		}
	}); n != 0 {
		t.Errorf("the first that is known was asked for %d times", n)
	}
	if n := asked(func() {
		run("2", false)
		run("3", true)
		run("a new one", false)
	}); n != 2 {
		t.Errorf("after one that was known, 2 were asked for %d times", n)
	}
}
