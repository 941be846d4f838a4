package run

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"

	"muster/lab/probe"
	"muster/lab/results"
)

// ProcessesMax bounds how many are started at the same time.
const ProcessesMax = 256

// What keeps probes that are to run at the same time from starting before all are there:
// the flag that has one wait, and what it says once it could begin, which it does when its
// standard input ends.
const (
	Gate  = "gate"
	Ready = "ready"
)

// runTogether starts the trial's probe in several processes at the same time. The figures
// are of all of them together: what one operation took by the clock, and of processors.
// The time counts from when all are ready.
func (t *Trial) runTogether(ctx context.Context) (results.Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // and with it all that were started
	var all []*gated
	for range t.Processes {
		g, err := startGated(t.cmd(ctx, "-"+Gate))
		if err != nil {
			return results.Sample{}, err
		}
		defer func() { cancel(); _ = g.cmd.Wait() }()
		all = append(all, g)
	}
	for _, g := range all {
		if line, _ := g.out.ReadString('\n'); line != Ready+"\n" {
			cancel()
			return results.Sample{}, g.explain(fmt.Errorf("a process that was to be ready said %q", results.Excerpt(line)))
		}
	}
	began := time.Now()
	for _, g := range all {
		g.in.Close()
	}
	cost := probe.Cost{}
	for _, g := range all {
		line, _ := g.out.ReadString('\n') // without an end it is no result
		cost.Wall = time.Since(began)
		s, err := results.ParseLine(line)
		if err != nil {
			cancel()
			return results.Sample{}, g.explain(err)
		}
		cpu, _ := s.Value(results.CPUPerOp)
		cost.N += s.N
		cost.CPU += time.Duration(cpu * float64(s.N))
	}
	return SampleOf(cost), nil
}

// gated is a process that waits to begin.
type gated struct {
	cmd    *exec.Cmd
	in     io.Closer
	out    *bufio.Reader
	failed *firstBytes
}

// explain adds to an error what the process said of it, which is there once it has ended.
func (g *gated) explain(err error) error {
	_ = g.cmd.Wait()
	return g.failed.explain(err)
}

func startGated(c *exec.Cmd) (*gated, error) {
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	failed := &firstBytes{}
	c.Stderr = failed
	return &gated{c, in, bufio.NewReader(io.LimitReader(out, keptBytesMax)), failed}, c.Start()
}

// SampleOf is a cost as a line of Go's benchmarks, with more values.
func SampleOf(c probe.Cost, more ...results.Value) results.Sample {
	n := float64(c.N)
	return results.Sample{N: c.N, Values: append([]results.Value{
		{Unit: results.NsPerOp, Figure: float64(c.Wall) / n}, {Unit: results.CPUPerOp, Figure: float64(c.CPU) / n},
	}, more...)}
}
