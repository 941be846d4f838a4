package reapi

import (
	"math"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"muster/regress/internal/outcome"
)

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
		got, err := actionOf(t, setting(), Compiler()).resultOf(t.Context(), response{result: r}, s.contents())
		if err != nil {
			t.Fatal(err)
		}
		measured := name == "Buildbarn" || name == "buildbox"
		want := outcome.EngineRun{Worker: "w7", Queued: 3 * time.Second, QueueKnown: true, Took: 5 * time.Second, Measured: measured}
		cost := outcome.Cost{Wall: 5 * time.Second}
		if measured {
			cost.CPU, cost.PeakRSS = 1500*time.Millisecond, 2048
		}
		if *got.Engine != want || got.Cost != cost {
			t.Errorf("%s: %+v, %+v", name, *got.Engine, got.Cost)
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
		resp response
		want outcome.EngineRun
	}{
		"by the clock here": {busy, response{asked: 9 * time.Second}, outcome.EngineRun{Queued: 2 * time.Second, QueueKnown: true, Asked: 9 * time.Second}},
		"clocks that run":   {busy, response{asked: 6 * time.Second}, outcome.EngineRun{QueueKnown: true, Asked: 6 * time.Second}},
		"cached":            {busy, response{asked: 9 * time.Second, cached: true}, outcome.EngineRun{Cached: true}},
		"nothing is said":   {nil, response{asked: 9 * time.Second}, outcome.EngineRun{Asked: 9 * time.Second}},
	} {
		s := store{}
		c.resp.result = s.left(t, nil)
		c.resp.result.ExecutionMetadata = c.said
		got, err := actionOf(t, setting(), Compiler()).resultOf(t.Context(), c.resp, s.contents())
		if err != nil {
			t.Fatal(err)
		}
		if *got.Engine != c.want {
			t.Errorf("%s: %+v, want %+v", name, *got.Engine, c.want)
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
		got, err := actionOf(t, setting(), Compiler()).resultOf(t.Context(), response{result: r}, s.contents())
		if err != nil {
			t.Fatal(err)
		}
		got.Engine.QueueKnown = false // whether or not
		if got.Cost != (outcome.Cost{}) || *got.Engine != (outcome.EngineRun{Worker: strings.Repeat("é", 100) + "…"}) {
			t.Errorf("%s: %+v, %+v", name, *got.Engine, got.Cost)
		}
	}
}
