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

// ProcessesMax bounds the processes that run at the same time.
const ProcessesMax = 256

// Gate is the flag that makes a probe wait until its standard input ends. Ready is the line
// that the probe prints when it is ready to start.
const (
	Gate  = "gate"
	Ready = "ready"
)

// runTogether runs the trial's probe in several processes at the same time. The figures are
// those of all processes together: elapsed time and CPU time per operation. The clock starts
// when all processes are ready.
func (t *Trial) runTogether(ctx context.Context) (results.Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // which also kills the processes
	var all []*gatedProcess
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
			return results.Sample{}, g.explain(fmt.Errorf("a process printed %q instead of %q", results.Excerpt(line), Ready))
		}
	}
	began := time.Now()
	for _, g := range all {
		g.in.Close()
	}
	cost := probe.Cost{}
	for _, g := range all {
		line, _ := g.out.ReadString('\n') // a line without a line break fails to parse
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
	return NewSample(cost), nil
}

// A gatedProcess waits for the signal to start.
type gatedProcess struct {
	cmd    *exec.Cmd
	in     io.Closer
	out    *bufio.Reader
	stderr *firstBytes
}

// explain adds the process's error message to err, after the process has ended.
func (g *gatedProcess) explain(err error) error {
	_ = g.cmd.Wait()
	return g.stderr.explain(err)
}

func startGated(c *exec.Cmd) (*gatedProcess, error) {
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
	return &gatedProcess{c, in, bufio.NewReader(io.LimitReader(out, keptBytesMax)), failed}, c.Start()
}

// NewSample converts a cost to a sample, with further values.
func NewSample(c probe.Cost, more ...results.Value) results.Sample {
	n := float64(c.N)
	return results.Sample{N: c.N, Values: append([]results.Value{
		{Unit: results.NsPerOp, Figure: float64(c.Wall) / n}, {Unit: results.CPUPerOp, Figure: float64(c.CPU) / n},
	}, more...)}
}
