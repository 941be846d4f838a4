package reapi_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// left is the result of an action whose work folder holds, beside what it was given, files.
func (s store) left(t *testing.T, files map[string]string) *repb.ActionResult {
	t.Helper()
	all := map[string]string{"HDR_a.h": "a", "inc/HDR_b.h": "b", "y.c": "y"}
	var d tree.Builder
	for at, text := range files {
		all[at] = text
	}
	for at, text := range all {
		if text == "" {
			continue // gone
		}
		b := blob.Of([]byte(text))
		s.put(t, b)
		if err := d.File(at, tree.File{Digest: b.Digest}); err != nil {
			t.Fatal(err)
		}
	}
	root, err := d.Build()
	if err != nil {
		t.Fatal(err)
	}
	for b := range root.Blobs {
		s.put(t, b)
	}
	return &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{RootDirectoryDigest: root.Digest().Proto()}}}
}

// of is the action of case y.c.
func of(t *testing.T, s reapi.Setting, command *exec.Command) *reapi.Action {
	t.Helper()
	c := opened(t, sources)
	return action(t, actions(t, c, s), exec.Job{Source: c.Cases()[1], Command: command})
}

func shown(t *testing.T, r *exec.Result) string {
	t.Helper()
	text := r.Outcome.Ending.String()
	for _, p := range r.Outcome.Parts {
		in, err := r.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatal(err)
		}
		if p.Form != outcome.Gone && (outcome.Of(content) != p.Digest || int64(len(content)) != p.Size) {
			t.Errorf("%s: %q is not what its digest says", p.Key, content)
		}
		text += fmt.Sprintf(" %s:%d:%s", p.Key, p.Form, content)
	}
	return text
}

func TestResult(t *testing.T) {
	s := store{}
	r := s.left(t, map[string]string{"y.o": "object", "inc/HDR_b.h": "edited", "HDR_a.h": ""})
	r.ExitCode = 1
	r.StdoutRaw = []byte("inline")
	errs := blob.Of([]byte("by digest"))
	s.put(t, errs)
	r.StderrDigest = errs.Digest.Proto()
	got, err := of(t, setting(), tool()).Result(t.Context(), reapi.Came{Result: r, Cached: true}, s.contents())
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	const want = "exit 1 stdout:0:inline stderr:0:by digest HDR_a.h:2: inc/HDR_b.h:0:edited y.o:0:object"
	if text := shown(t, got); text != want || got.Lane != exec.NoLane || !got.Remote.Cached || got.Remote.Measured {
		t.Errorf("%s, %+v", text, got.Remote)
	}
}

// Nothing is downloaded that nobody asks for: what the parts hold need not even be there.
func TestContentsAreOpenedLater(t *testing.T) {
	s := store{}
	r := s.left(t, map[string]string{"y.o": "object"})
	delete(s, blob.Of([]byte("object")).Digest)
	r.StdoutDigest = blob.Of([]byte("never sent")).Digest.Proto()
	got, err := of(t, setting(), tool()).Result(t.Context(), reapi.Came{Result: r}, s.contents())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := got.Open(got.Outcome.Parts[0]); !errors.Is(err, errEvicted) {
		t.Errorf("%v", err)
	}
}

func TestEndings(t *testing.T) {
	shell := tool()
	shell.Shell = true
	for _, c := range []struct {
		name    string
		code    int32
		timeout bool
		command *exec.Command
		want    string // of the ending; "" = an error of class Environment
	}{
		{"passed", 0, false, tool(), "exit 0"},
		{"failed", 128, false, tool(), "exit 128"},
		{"crashed", 139, false, tool(), "signal 11 (SIGSEGV)"},
		{"of a shell", 139, false, shell, "exit 139"},
		{"above all signals", 255, false, tool(), "exit 255"},
		{"out of time", 137, true, tool(), "timed-out"},
		{"of no command", -2, false, tool(), ""},
	} {
		s := store{}
		r := s.left(t, nil)
		r.ExitCode = c.code
		got, err := of(t, setting(), c.command).Result(t.Context(), reapi.Came{Result: r, TimedOut: c.timeout}, s.contents())
		if c.want == "" {
			if fault.ClassOf(err) != fault.Environment {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if err != nil || got.Outcome.Ending.String() != c.want {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestOutputLimit(t *testing.T) {
	for name, r := range map[string]func(store, *testing.T) *repb.ActionResult{
		"a stream": func(s store, t *testing.T) *repb.ActionResult {
			r := s.left(t, nil)
			r.StdoutRaw = []byte(strings.Repeat("x", 101))
			return r
		},
		"files and a stream": func(s store, t *testing.T) *repb.ActionResult {
			r := s.left(t, map[string]string{"a": strings.Repeat("x", 60)})
			r.StderrRaw = []byte(strings.Repeat("x", 60))
			return r
		},
	} {
		s := store{}
		got, err := of(t, setting(), tool()).Result(t.Context(), reapi.Came{Result: r(s, t)}, s.contents())
		if err != nil || got.Outcome.Ending.Kind != outcome.OutputLimit || len(got.Outcome.Parts) != 2 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	s := store{}
	got, err := of(t, setting(), tool()).Result(t.Context(), reapi.Came{Result: s.left(t, map[string]string{"a": strings.Repeat("x", 100)})}, s.contents())
	if err != nil || got.Outcome.Ending.Kind != outcome.Exited {
		t.Errorf("just as much as it may: %+v, %v", got, err)
	}
	r := s.left(t, nil)
	r.StdoutRaw = []byte(strings.Repeat("x", 100))
	if got, err := of(t, setting(), tool()).Result(t.Context(), reapi.Came{Result: r}, s.contents()); err != nil || got.Outcome.Ending.Kind != outcome.Exited {
		t.Errorf("a stream of just as much as it may: %+v, %v", got, err)
	}
}

// What an engine gets wrong is the environment's, never a verdict.
func TestEngineInError(t *testing.T) {
	for name, change := range map[string]func(store, *repb.ActionResult){
		"no work folder": func(_ store, r *repb.ActionResult) { r.OutputDirectories = nil },
		"another stream": func(_ store, r *repb.ActionResult) {
			r.StdoutRaw, r.StdoutDigest = []byte("x"), blob.Of([]byte("y")).Digest.Proto()
		},
		"a damaged digest":    func(_ store, r *repb.ActionResult) { r.StderrDigest = &repb.Digest{Hash: "x"} },
		"a folder is evicted": func(s store, _ *repb.ActionResult) { clear(s) },
	} {
		s := store{}
		r := s.left(t, map[string]string{"y.o": "o"})
		change(s, r)
		_, err := of(t, setting(), tool()).Result(t.Context(), reapi.Came{Result: r}, s.contents())
		if fault.ClassOf(err) != fault.Environment {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(name, "evicted") && !errors.Is(err, errEvicted) {
			t.Errorf("%s: who reads cannot tell: %v", name, err)
		}
	}
}

func TestCameOf(t *testing.T) {
	r := &repb.ActionResult{}
	for name, c := range map[string]struct {
		response *repb.ExecuteResponse
		want     string
	}{
		"ran":            {&repb.ExecuteResponse{Result: r}, "ran"},
		"ran out":        {&repb.ExecuteResponse{Result: r, Status: &status.Status{Code: int32(codes.DeadlineExceeded)}}, "timed-out"},
		"never ran":      {&repb.ExecuteResponse{Status: &status.Status{Code: int32(codes.DeadlineExceeded)}}, "environment"},
		"worker is gone": {&repb.ExecuteResponse{Result: r, Status: &status.Status{Code: int32(codes.Unavailable)}}, "environment"},
		"nothing":        {&repb.ExecuteResponse{}, "environment"},
	} {
		came, err := reapi.CameOf(c.response)
		got := map[bool]string{true: "timed-out", false: "ran"}[came.TimedOut]
		if err != nil {
			got = fmt.Sprint(map[fault.Class]string{fault.Environment: "environment"}[fault.ClassOf(err)])
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s: %v", name, got, c.want, err)
		}
	}
}

func TestFigures(t *testing.T) {
	second := func(n int64) *timestamppb.Timestamp { return &timestamppb.Timestamp{Seconds: n} }
	usage := func(peak uint64) []byte {
		var b []byte
		for i, d := range []time.Duration{time.Second, 500 * time.Millisecond} {
			text, err := proto.Marshal(durationpb.New(d))
			if err != nil {
				t.Fatal(err)
			}
			b = protowire.AppendBytes(protowire.AppendTag(b, protowire.Number(i+1), protowire.BytesType), text)
		}
		return protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), peak)
	}
	for name, extra := range map[string]*anypb.Any{
		"Buildbarn": {TypeUrl: "type.googleapis.com/buildbarn.resourceusage.POSIXResourceUsage", Value: usage(2048 << 10)},
		"buildbox": {TypeUrl: "type.googleapis.com/build.buildbox.ExecutionStatistics",
			Value: protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), usage(2048))},
		"others":  {TypeUrl: "type.googleapis.com/google.protobuf.Empty"},
		"damaged": {TypeUrl: "type.googleapis.com/build.buildbox.ExecutionStatistics", Value: []byte{0x0a, 0xff}},
	} {
		s := store{}
		r := s.left(t, nil)
		r.ExecutionMetadata = &repb.ExecutedActionMetadata{
			Worker: "w7", QueuedTimestamp: second(10), WorkerStartTimestamp: second(13),
			ExecutionStartTimestamp: second(20), ExecutionCompletedTimestamp: second(25), AuxiliaryMetadata: []*anypb.Any{extra},
		}
		got, err := of(t, setting(), tool()).Result(t.Context(), reapi.Came{Result: r}, s.contents())
		if err != nil {
			t.Fatal(err)
		}
		measured := name == "Buildbarn" || name == "buildbox"
		want := exec.Remote{Worker: "w7", Queued: 3 * time.Second, QueueTold: true, Ran: 5 * time.Second, Measured: measured}
		cost := outcome.Cost{Wall: 5 * time.Second}
		if measured {
			cost.CPU, cost.PeakRSS = 1500*time.Millisecond, 2048
		}
		if *got.Remote != want || got.Cost != cost {
			t.Errorf("%s: %+v, %+v", name, *got.Remote, got.Cost)
		}
	}
}

// Where the engine does not say since when a run waited, what no worker had of the time counts
// as that. Of what is cached, nothing was measured here.
func TestQueueThatIsNotTold(t *testing.T) {
	second := func(n int64) *timestamppb.Timestamp { return &timestamppb.Timestamp{Seconds: n} }
	busy := &repb.ExecutedActionMetadata{WorkerStartTimestamp: second(13), WorkerCompletedTimestamp: second(20)}
	for name, c := range map[string]struct {
		said *repb.ExecutedActionMetadata
		came reapi.Came
		want exec.Remote
	}{
		"by the clock here": {busy, reapi.Came{Asked: 9 * time.Second}, exec.Remote{Queued: 2 * time.Second, QueueTold: true, Asked: 9 * time.Second}},
		"clocks that run":   {busy, reapi.Came{Asked: 6 * time.Second}, exec.Remote{QueueTold: true, Asked: 6 * time.Second}},
		"cached":            {busy, reapi.Came{Asked: 9 * time.Second, Cached: true}, exec.Remote{Cached: true}},
		"nothing is said":   {nil, reapi.Came{Asked: 9 * time.Second}, exec.Remote{Asked: 9 * time.Second}},
	} {
		s := store{}
		c.came.Result = s.left(t, nil)
		c.came.Result.ExecutionMetadata = c.said
		got, err := of(t, setting(), tool()).Result(t.Context(), c.came, s.contents())
		if err != nil {
			t.Fatal(err)
		}
		if *got.Remote != c.want {
			t.Errorf("%s: %+v, want %+v", name, *got.Remote, c.want)
		}
	}
}

// Figures that no command has are none: clocks differ, and engines err.
func TestFiguresThatCannotBe(t *testing.T) {
	year := func(n int) *timestamppb.Timestamp { return timestamppb.New(time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC)) }
	forever, err := proto.Marshal(durationpb.New(math.MaxInt64))
	if err != nil {
		t.Fatal(err)
	}
	second, err := proto.Marshal(durationpb.New(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	usage := func(cpu []byte, peak uint64) *anypb.Any {
		b := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), cpu)
		b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), cpu)
		b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), peak)
		return &anypb.Any{TypeUrl: "x/buildbarn.resourceusage.POSIXResourceUsage", Value: b}
	}
	for name, m := range map[string]*repb.ExecutedActionMetadata{
		"for ever":    {QueuedTimestamp: year(1), WorkerStartTimestamp: year(9999), ExecutionStartTimestamp: year(1), ExecutionCompletedTimestamp: year(9999)},
		"backwards":   {QueuedTimestamp: year(2020), WorkerStartTimestamp: year(2019), VirtualExecutionDuration: durationpb.New(-time.Hour)},
		"much CPU":    {AuxiliaryMetadata: []*anypb.Any{usage(forever, 1)}},
		"much memory": {AuxiliaryMetadata: []*anypb.Any{usage(second, math.MaxUint64)}},
	} {
		s := store{}
		r := s.left(t, nil)
		r.ExecutionMetadata = m
		m.Worker = strings.Repeat("é", 500)
		got, err := of(t, setting(), tool()).Result(t.Context(), reapi.Came{Result: r}, s.contents())
		if err != nil {
			t.Fatal(err)
		}
		got.Remote.QueueTold = false // whether or not
		if got.Cost != (outcome.Cost{}) || *got.Remote != (exec.Remote{Worker: strings.Repeat("é", 100) + "…"}) {
			t.Errorf("%s: %+v, %+v", name, *got.Remote, got.Cost)
		}
	}
}
