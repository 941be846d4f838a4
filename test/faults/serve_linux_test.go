package faults

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// TestServePowerLoss takes the power from a file service while clients put files. A file that was
// acknowledged is there afterwards, or a later one of its name. Every other one is whole too.
func TestServePowerLoss(t *testing.T) {
	requireMount(t)
	s := newStage(t)
	chosen := chosenSeed()
	r := rand.New(rand.NewPCG(chosen, 0))
	t.Logf("seed %d", chosen)
	rounds := max(*serveRounds, 1)
	for _, sync := range []string{"group", "fdatasync"} {
		kept, tried := 0, 0
		for range rounds {
			p := &puts{seed: r.Uint64(), acknowledged: map[string]int{}, tried: map[string]int{}}
			before := mounted(t, s.dir, newDisk())
			address, stop := s.serve("--sync", sync)
			if r.IntN(4) > 0 {
				before.begin(fault{kind: damaged, nth: 1 + r.IntN(600), stays: true})
			}
			p.run(t.Context(), address)
			before.begin(fault{kind: damaged, nth: 1, stays: true})
			stop()
			before.unmount()
			l := losses[r.IntN(len(losses))]
			after := mounted(t, s.dir, before.disk.lose(l, r))
			address, stop = s.serve("--sync", sync)
			for _, problem := range p.check(t.Context(), address) {
				t.Errorf("--sync %s, %+v, seed %d: %s", sync, l, p.seed, problem)
			}
			stop()
			after.unmount()
			kept += len(p.acknowledged)
			tried += len(p.tried)
		}
		t.Logf("--sync %s: %d power losses, %d names put, %d acknowledged", sync, rounds, tried, kept)
	}
}

// serve starts a file service on the disk. stop kills it.
func (s *stage) serve(args ...string) (address string, stop func()) {
	s.Helper()
	c := s.command(s.Context(), append([]string{"serve", "--data", s.in("data"), "--addr", "127.0.0.1:0"}, args...)...)
	out, err := c.StdoutPipe()
	c.Stderr = c.Stdout
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	said := ""
	for address == "" && lines.Scan() {
		said += lines.Text() + "\n"
		if at, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			address = at
		}
	}
	if address == "" {
		s.Fatalf("serve: %v\n%s", c.Wait(), said)
	}
	var read sync.WaitGroup
	read.Go(func() { _, _ = io.Copy(io.Discard, out) })
	return address, func() { kill(c, &read) }
}

func kill(c *exec.Cmd, read *sync.WaitGroup) {
	_ = c.Process.Kill() // it may have ended
	read.Wait()
	_ = c.Wait()
}

// puts are the files of one round. The content of a name's nth version follows from the seed.
type puts struct {
	seed uint64

	mu                  sync.Mutex
	acknowledged, tried map[string]int // the last version, by name
}

// clients put files at the same time, each under its own names and some of them several times.
const (
	clients       = 4
	filesOfClient = 12
)

func (p *puts) run(ctx context.Context, address string) {
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for n := range filesOfClient {
				p.put(ctx, address, fmt.Sprintf("c%d/%d", i, n%(filesOfClient*2/3)))
			}
		})
	}
	all.Wait()
}

func (p *puts) put(ctx context.Context, address, name string) {
	p.mu.Lock()
	p.tried[name]++
	version := p.tried[name]
	p.mu.Unlock()
	status, _, err := request(ctx, http.MethodPut, address+"/files/"+name, p.content(name, version))
	if err == nil && status/100 == 2 {
		p.mu.Lock()
		p.acknowledged[name] = version
		p.mu.Unlock()
	}
}

// content returns up to some 300 KB.
func (p *puts) content(name string, version int) []byte {
	head := fmt.Sprintf("%d %s %d\n", p.seed, name, version)
	h := uint64(0)
	for _, b := range []byte(head) {
		h = h*31 + uint64(b)
	}
	r := rand.New(rand.NewPCG(p.seed, h))
	text := make([]byte, 1<<r.IntN(19))
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	return append([]byte(head), text...)
}

func (p *puts) check(ctx context.Context, address string) (problems []string) {
	for name, tried := range p.tried {
		status, body, err := request(ctx, http.MethodGet, address+"/files/"+name, nil)
		if err != nil || status != http.StatusOK && status != http.StatusNotFound {
			problems = append(problems, fmt.Sprintf("%s: status %d, %v", name, status, err))
			continue
		}
		found := 0
		for v := 1; status == http.StatusOK && v <= tried; v++ {
			if bytes.Equal(body, p.content(name, v)) {
				found = v
			}
		}
		switch {
		case status == http.StatusOK && found == 0:
			problems = append(problems, fmt.Sprintf("%s has %d bytes that nobody put", name, len(body)))
		case found < p.acknowledged[name]:
			problems = append(problems, fmt.Sprintf("%s has version %d, and version %d was acknowledged", name, found, p.acknowledged[name]))
		}
	}
	return problems
}

func request(ctx context.Context, method, url string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer got.Body.Close()
	answer, err = io.ReadAll(got.Body)
	return got.StatusCode, answer, err
}
