package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"muster/bench/timing"
)

// A result is the line that muster load prints.
type result struct {
	Succeeded int     `json:"succeeded"`
	Failed    int     `json:"failed"`
	PerSecond float64 `json:"requests_per_s"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	P999      float64 `json:"p999_ms"`
	Threads   int     `json:"threads_peak"`

	CPU    float64 `json:"cpu_ms"` // of the server and its children, ms a request
	Memory float64 `json:"-"`      // the most that the server had, MiB
}

// samples are the results of one contestant in one operation, one of each round.
type samples struct {
	contestant, operation string
	rounds                []result
}

// measure runs all contestants in turns. With an error it returns the rounds that were complete.
func (b *bench) measure(ctx context.Context) (all []*samples, err error) {
	defer func() { err = errors.Join(err, b.removeDisk(ctx)) }()
	release, err := takeProcessors(ctx, b.hogs)
	if err != nil {
		return nil, err
	}
	defer release()
	present := slices.DeleteFunc(b.contestants(), func(c contestant) bool {
		if c.missing() {
			fmt.Fprintf(os.Stderr, "no %s: install it, and it is measured too\n", c.needs)
		}
		return c.missing()
	})
	for _, operation := range b.operations {
		for _, c := range present {
			all = append(all, &samples{contestant: c.name, operation: operation})
		}
	}
	for round := range b.rounds {
		for _, i := range rand.New(rand.NewPCG(uint64(round), 0)).Perm(len(present)) {
			fmt.Fprintf(os.Stderr, "\r\x1b[Kround %d of %d: %s", round+1, b.rounds, present[i].name)
			results, err := b.once(ctx, present[i])
			if err != nil {
				for _, s := range all {
					s.rounds = s.rounds[:min(round, len(s.rounds))]
				}
				return all, fmt.Errorf("%s: %w", present[i].name, err)
			}
			for k, r := range results {
				s := all[k*len(present)+i]
				s.rounds = append(s.rounds, r)
			}
		}
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	return all, nil
}

// named returns the samples of an operation by the names of their contestants.
func named(all []*samples, operation string) map[string]*samples {
	by := map[string]*samples{}
	for _, s := range all {
		if s.operation == operation {
			by[s.contestant] = s
		}
	}
	return by
}

// once measures all operations with one contestant, on a new disk. What is read is what was
// uploaded, from the disk itself where that is slow: the server is started again then.
func (b *bench) once(ctx context.Context, c contestant) (results []result, err error) {
	if err := b.renewDisk(ctx); err != nil {
		return nil, err
	}
	for i, operation := range b.operations {
		if i > 0 {
			if err := b.coolDisk(ctx); err != nil {
				return nil, err
			}
		}
		r, err := b.serve(ctx, c, operation)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// serve starts a contestant and puts it under load.
func (b *bench) serve(ctx context.Context, c contestant, operation string) (r result, err error) {
	s, err := start(ctx, c, b.folder)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if c.silent > 0 {
		ctx, cancel := context.WithCancel(ctx)
		wait := announce(ctx, s.addr, c.silent)
		defer wait()
		defer cancel()
	}
	return b.loadOn(ctx, c, s, operation)
}

// loadOn puts a server under load.
func (b *bench) loadOn(ctx context.Context, c contestant, s *server, operation string) (r result, err error) {
	cmd := exec.CommandContext(ctx, b.muster, "load", "--addr", s.addr, "--pid", strconv.Itoa(s.Process.Pid), "--format", "json")
	if c.client != nil {
		cmd = exec.CommandContext(ctx, b.client, append(slices.Clone(c.client), "-addr", s.addr)...)
		cmd.Env = append(os.Environ(), storeKeys...)
		if !c.own {
			cmd.Args = append(cmd.Args, "-cpu-of", strconv.Itoa(s.Process.Pid))
		}
	}
	if operation == download && b.duration > 0 {
		cmd.Args = append(cmd.Args, "--duration", b.duration.String())
	}
	cmd.Args = append(cmd.Args, operation, strconv.Itoa(b.connections), strconv.Itoa(b.requests), b.size)
	var said bytes.Buffer
	cmd.Stderr = &said
	before := cpuTime(s.Process.Pid)
	text, err := cmd.Output()
	if e := json.Unmarshal(text, &r); e != nil {
		return r, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, said.Bytes())
	}
	if c.client == nil {
		r.CPU = (cpuTime(s.Process.Pid) - before) / float64(max(r.Succeeded, 1))
	}
	r.Memory = float64(timing.WatchPeak(s.Process.Pid)()) / (1 << 20)
	return r, nil
}

// cpuTime is what a process and its present children have taken, in milliseconds, as far as
// it can be read.
func cpuTime(pid int) float64 {
	sum := float64(timing.CPUOf(pid).Milliseconds())
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			sum += cpuTime(n)
		}
	}
	return sum
}
