package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"muster/bench/timing"
	"muster/lab/corpora"
)

// measured is one tool on one corpus.
type measured struct {
	*bench
	place    place
	spec     corpora.Spec
	tool     tool
	subjects []*subject
}

// subject is one muster at that, with a golden of its own: versions need not read
// each other's.
type subject struct {
	*measured
	program
	golden    string
	summaries []summary
}

// summary is the last line of muster's JSON.
type summary struct {
	CPU  float64 `json:"cpu_ms"`
	Own  float64 `json:"own_cpu_ms"`
	Busy float64 `json:"cores_busy"`

	Reused int `json:"reused"` // cases
}

// measure prints the table of one tool on one corpus.
func (b *bench) measure(ctx context.Context, spec corpora.Spec, t tool) error {
	m, err := b.set(ctx, spec, t)
	if err != nil {
		return err
	}
	defer os.RemoveAll(m.place.dir)
	switch b.table {
	case tableArticle:
		return m.article(ctx)
	case tableReuse:
		return m.reuse(ctx)
	case tableGoals:
		return m.judge(ctx)
	}
	return m.compare(ctx)
}

// set writes the corpus and records the goldens.
func (b *bench) set(ctx context.Context, spec corpora.Spec, t tool) (*measured, error) {
	archive := filepath.Join(b.dir, spec.Name+".tar")
	if _, err := os.Stat(archive); err != nil {
		if err := corpora.Write(archive, spec); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(b.dir, spec.Name+"-"+t.name)
	if err := corpora.Unpack(dir, spec); err != nil {
		return nil, err
	}
	if err := writeList(dir, spec); err != nil {
		return nil, err
	}
	record := []string{"record", "--repeat", "1"}
	if b.table == tableReuse {
		record = append(record, "--no-network") // else nothing is reused
	}
	m := &measured{bench: b, place: place{dir, archive, b.jobs, b.goport}, spec: spec, tool: t}
	for i, p := range b.musters {
		s := &subject{measured: m, program: p, golden: filepath.Join(b.dir, spec.Name+"-"+t.name+"."+string(rune('a'+i))+".golden")}
		if _, err := timing.Run(ctx, s.command(record...), nil); err != nil {
			return nil, err
		}
		m.subjects = append(m.subjects, s)
	}
	return m, nil
}

// called names this muster in rows and lines. With one muster the name is left out.
func (s *subject) called(what string) string {
	if len(s.musters) == 1 {
		return what
	}
	return what + " (" + s.name + ")"
}

func (s *subject) command(words ...string) timing.Command {
	return s.commandOn(s.golden, words...)
}

func (s *subject) commandOn(golden string, words ...string) timing.Command {
	args := append([]string{s.path}, words...)
	args = append(args, s.place.archive, "--golden", golden, "--state", s.golden+".state", "--format", "json", "--quiet", "--")
	return timing.Command{Args: append(args, s.tool.with("{in}", "{out}")...), Dir: s.dir}
}

// check runs muster check, and notes what it says of itself.
func (s *subject) check(ctx context.Context, jobs string) (timing.Sample, error) {
	sample, sum, err := s.checkOnce(ctx, jobs)
	if err == nil {
		s.summaries = append(s.summaries, sum)
	}
	return sample, err
}

func (s *subject) checkOnce(ctx context.Context, jobs string, words ...string) (timing.Sample, summary, error) {
	var out bytes.Buffer
	var sum summary
	sample, err := timing.Run(ctx, s.command(append([]string{"check", "--jobs", jobs}, words...)...), &out)
	if err != nil {
		return sample, sum, err
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	return sample, sum, json.Unmarshal(lines[len(lines)-1], &sum)
}

// recordTwice records into another golden, each case twice.
func (s *subject) recordTwice(ctx context.Context, jobs string) (timing.Sample, error) {
	return timing.Run(ctx, s.commandOn(s.golden+".2", "record", "--repeat", "2", "--jobs", jobs), nil)
}

// watched is check while somebody looks what it takes, which costs it time.
func (s *subject) watched(ctx context.Context, jobs string) (usage, summary, error) {
	stop, used := make(chan struct{}), make(chan usage)
	go func() { used <- watch(s.path, stop, 50*time.Millisecond) }()
	_, sum, err := s.checkOnce(ctx, jobs)
	close(stop)
	return <-used, sum, err
}

// perCase is a time of a whole run, in milliseconds, as microseconds for each case.
func (m *measured) perCase(ms float64) float64 { return ms * 1000 / float64(m.spec.Cases) }

// median is that of one figure of some summaries.
func median(summaries []summary, figure func(summary) float64) float64 {
	values := make([]float64, len(summaries))
	for i, s := range summaries {
		values[i] = figure(s)
	}
	return timing.Median(values)
}

func toolCPU(s summary) float64   { return s.CPU }
func ownCPU(s summary) float64    { return s.Own }
func coresBusy(s summary) float64 { return s.Busy }
