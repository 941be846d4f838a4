package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
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

	CPU float64 `json:"-"` // of the server and its children, ms a request
}

// samples are the results of one contestant in one operation, one of each round.
type samples struct {
	contestant, operation string
	rounds                []result
}

// measure runs all contestants in turns, and prints what came of it.
func (b *bench) measure(ctx context.Context) error {
	var all []*samples
	by := map[string]*samples{}
	var present []contestant
	for _, c := range b.contestants() {
		if c.missing() {
			fmt.Fprintf(b.out, "\nno %s: install it, and it is measured too\n", c.needs)
			continue
		}
		present = append(present, c)
	}
	for _, operation := range b.operations {
		for _, c := range present {
			s := &samples{contestant: c.name, operation: operation}
			all = append(all, s)
			by[c.name+operation] = s
		}
	}
	for round := range b.rounds {
		for _, i := range rand.New(rand.NewPCG(uint64(round), 0)).Perm(len(present)) {
			c := present[i]
			fmt.Fprintf(os.Stderr, "\r\x1b[Kround %d of %d: %s", round+1, b.rounds, c.name)
			results, err := b.once(ctx, c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			for k, operation := range b.operations {
				s := by[c.name+operation]
				s.rounds = append(s.rounds, results[k])
			}
		}
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	b.print(all)
	return nil
}

// once measures all operations with one contestant, on a new disk. What is read is what was
// uploaded, from the disk itself where that is slow: the server is started again then.
func (b *bench) once(ctx context.Context, c contestant) (results []result, err error) {
	if err := b.disk.renew(ctx); err != nil {
		return nil, err
	}
	for i, operation := range b.operations {
		if i > 0 {
			if err := b.disk.cool(ctx); err != nil {
				return nil, err
			}
		}
		r, err := b.load(ctx, c, operation)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

func (b *bench) load(ctx context.Context, c contestant, operation string) (r result, err error) {
	s, err := start(ctx, c, b.disk.folder)
	if err != nil {
		return r, err
	}
	defer func() {
		if e := s.stop(); err == nil {
			err = e
		}
	}()
	if c.silent > 0 {
		ctx, cancel := context.WithCancel(ctx)
		wait := announce(ctx, s.addr, c.silent)
		defer wait()
		defer cancel()
	}
	return b.loadOn(ctx, s, operation)
}

// loadOn puts a server under load.
func (b *bench) loadOn(ctx context.Context, s *server, operation string) (r result, err error) {
	cmd := exec.CommandContext(ctx, b.muster, "load", operation, strconv.Itoa(b.connections), strconv.Itoa(b.requests), b.size,
		"--addr", s.addr, "--pid", strconv.Itoa(s.Process.Pid), "--format", "json")
	var said bytes.Buffer
	cmd.Stderr = &said
	before := cpuTime(s.Process.Pid)
	text, err := cmd.Output()
	if e := json.Unmarshal(text, &r); e != nil {
		return r, fmt.Errorf("muster load: %w: %s", err, said.Bytes())
	}
	r.CPU = (cpuTime(s.Process.Pid) - before) / float64(max(r.Succeeded, 1))
	return r, nil
}

// cpuTime is what a process and its present children have taken, in milliseconds, as far as
// it can be read.
func cpuTime(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	sum := float64(user+system) * 10 // a tick is 10 ms
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			sum += cpuTime(n)
		}
	}
	return sum
}
