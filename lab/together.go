package lab

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"

	"muster/lab/probe"
)

// processesMax bounds how many are started at the same time.
const processesMax = 256

// runTogether starts the trial's probe in several processes at the same time. The figures
// are of all of them together: what one operation took by the clock, and of processors.
// The time counts from when all are ready.
func (t *trial) runTogether(ctx context.Context) (Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // and with it all that were started
	var all []*gated
	for range t.processes {
		g, err := startGated(t.cmd(ctx, "-"+gate))
		if err != nil {
			return Sample{}, err
		}
		defer func() { cancel(); _ = g.cmd.Wait() }()
		all = append(all, g)
	}
	for _, g := range all {
		if line, _ := g.out.ReadString('\n'); line != ready+"\n" {
			cancel()
			return Sample{}, g.explain(fmt.Errorf("a process that was to be ready said %q", excerpt(line)))
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
		s, err := parseLine(line)
		if err != nil {
			cancel()
			return Sample{}, g.explain(err)
		}
		cpu, _ := s.Value(cpuPerOp)
		cost.N += s.N
		cost.CPU += time.Duration(cpu * float64(s.N))
	}
	return sampleOf(cost), nil
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
