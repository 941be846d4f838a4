package faults

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestServePowerLoss takes the power from a file service while clients put files. Afterwards each
// acknowledged name has that version or a later one, and no file is torn. On FUSE --sync group is
// fdatasync, so this shows that the service knows it; no syncfs reaches the disk.
func TestServePowerLoss(t *testing.T) {
	requireMount(t)
	s, r := newStage(t), random(t)
	for _, how := range []string{"group", "fdatasync"} {
		kept, tried := 0, 0
		for range *serveRounds {
			p := &puts{seed: r.Uint64(), acknowledged: map[string]int{}, tried: map[string]int{}}
			before := mounted(t, s.dir, newDisk())
			if r.IntN(2) == 0 { // as a first start leaves it that is killed at once
				if err := os.Mkdir(s.in("data"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			address, stop := s.serve("--sync", how)
			if r.IntN(4) > 0 {
				before.begin(fault{kind: damaged, nth: 1 + r.IntN(600), stays: true})
			}
			p.run(t.Context(), address)
			before.begin(fault{kind: damaged, nth: 1, stays: true})
			stop()
			before.unmount()
			l := losses[r.IntN(len(losses))]
			after := mounted(t, s.dir, before.disk.lose(l, r))
			address, stop = s.serve("--sync", how)
			for _, problem := range p.check(t.Context(), address) {
				t.Errorf("--sync %s, %+v, seed %d: %s", how, l, p.seed, problem)
			}
			stop()
			after.unmount()
			kept += len(p.acknowledged)
			tried += len(p.tried)
		}
		t.Logf("--sync %s: %d power losses, %d names put, %d acknowledged", how, *serveRounds, tried, kept)
	}
}

// serve starts a file service on the disk. stop kills it.
func (s *stage) serve(args ...string) (address string, stop func()) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	c := s.command(ctx, append([]string{"serve", "--data", s.in("data"), "--addr", "127.0.0.1:0"}, args...)...)
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
		cancel()
		s.Fatalf("serve: %v\n%s", c.Wait(), said)
	}
	var read sync.WaitGroup
	read.Go(func() { _, _ = io.Copy(io.Discard, out) })
	stop = sync.OnceFunc(func() {
		cancel() // it may have ended
		read.Wait()
		_ = c.Wait()
	})
	s.Cleanup(stop)
	return address, stop
}

// puts are what clients have put in a round. The content of a name's nth version follows from the seed.
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

// content returns up to 256 KiB and some bytes, so that some files are read in pieces.
func (p *puts) content(name string, version int) []byte {
	head := fmt.Appendf(nil, "%d %s %d\n", p.seed, name, version)
	r := rand.NewChaCha8(sha256.Sum256(head))
	text := make([]byte, 1<<(r.Uint64()%19))
	_, _ = r.Read(text) // it never fails
	return append(head, text...)
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
			problems = append(problems, fmt.Sprintf("%s has version %d, but version %d was acknowledged", name, found, p.acknowledged[name]))
		}
	}
	return problems
}

func request(ctx context.Context, method, url string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	got, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer got.Body.Close()
	answer, err = io.ReadAll(got.Body)
	return got.StatusCode, answer, err
}
