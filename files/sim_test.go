package files_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio"
	"muster/files"
	"muster/files/internal/pace"
	"muster/test/kits/enginetest"
)

var simulations = flag.Int("simulations", 20, "how many seeds TestNobodyStarves plays")

// simPatience is how long a well-behaved request may take, whatever other clients do.
const simPatience = 3 * time.Second

// simNet is a network in memory.
type simNet struct{ pipes }

func (n simNet) dial(from string) net.Conn {
	here, there := net.Pipe()
	n.pipes <- simConn{there, simAddr(from + ":1")}
	return here
}

// simConn is a connection with the address of its client.
type simConn struct {
	net.Conn
	from simAddr
}

type simAddr string

func (simAddr) Network() string        { return "sim" }
func (a simAddr) String() string       { return string(a) }
func (c simConn) RemoteAddr() net.Addr { return c.from }

// sim is a server with clients of all kinds.
type sim struct {
	*testing.T
	seed    uint64
	disk    *simDisk
	store   *fileio.Store
	net     simNet
	tokens  []string // if there are any, clients differ in their tokens instead of their addresses
	ctx     context.Context
	clients sync.WaitGroup
}

// TestNobodyStarves runs the server, the store, group commit and the budgets in a bubble, with
// a network and a disk in memory. Some clients are silent, slow or greedy, or vanish. Each
// request of a well-behaved client must still succeed within simPatience. In the end no memory
// or place may be held.
func TestNobodyStarves(t *testing.T) {
	seeds := *simulations
	if testing.Short() {
		seeds = min(seeds, 4)
	}
	for seed := range uint64(seeds) {
		folder := t.TempDir()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { simulate(t, seed, folder) })
		})
	}
}

func simulate(t *testing.T, seed uint64, folder string) {
	random := rand.New(rand.NewPCG(seed, 1))
	s := &sim{T: t, seed: seed, disk: newSimDisk(seed, 1+random.IntN(8), 10*time.Millisecond), net: simNet{make(pipes)}}
	if random.IntN(2) == 1 {
		s.tokens = []string{"good", "prepare", "10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3"}
	}
	sync := []fileio.Sync{fileio.SyncGroup, fileio.SyncEach, fileio.SyncNone}[random.IntN(3)]
	var err error
	s.store, err = fileio.Open(folder, s.disk, fileio.Options{Sync: sync, JobsOnly: true, MemoryMax: 1 << 20 << random.IntN(2), WaitMax: 30 * time.Second, WaitingMax: 256})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: files.NewServer(s.store, files.Options{Tokens: s.tokens})}
	go func() { _ = server.Serve(pace.Listener(s.net, 1<<10)) }()
	s.must("prepare", http.MethodPut, "big", enginetest.Content(9, 1<<20), nil)
	s.must("prepare", http.MethodPut, "small", enginetest.Content(8, 50_000), nil)

	ctx, end := context.WithCancel(t.Context())
	s.ctx = ctx
	for i := range 40 + random.IntN(300) {
		kind := kinds[random.IntN(len(kinds))]
		from := fmt.Sprintf("10.0.0.%d", random.IntN(4))
		s.clients.Go(func() { kind(s, rand.New(rand.NewPCG(seed, uint64(100+i))), from) })
	}
	for n := range 15 {
		time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
		data := enginetest.Content(n, 1+random.IntN(200_000))
		s.must("good", http.MethodPut, "good", data, nil)
		s.must("good", http.MethodGet, "good", nil, data)
		s.must("good", http.MethodGet, "small", nil, enginetest.Content(8, 50_000))
		s.must("good", http.MethodPost, "../bench", data[:min(len(data), 64<<10)], data[:min(len(data), 64<<10)])
	}
	end()
	s.clients.Wait()
	time.Sleep(time.Minute)
	synctest.Wait()
	if stats := s.store.Stats(); stats.Memory != 0 || stats.Waiting != 0 {
		t.Errorf("in the end %+v", stats)
	}
	if open, unnamed := s.disk.left(); open+unnamed > 0 {
		t.Errorf("%d files are open, %d have no name", open, unnamed)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := s.store.Close(); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Minute) // net/http waits a little before it closes a connection
}

// dial connects a client.
func (s *sim) dial(from string) net.Conn {
	if s.tokens != nil {
		from = "one"
	}
	return s.net.dial(from)
}

// must makes a request, which has to succeed within simPatience.
func (s *sim) must(from, method, name string, body, want []byte) {
	s.Helper()
	began := time.Now()
	c := s.dial(from)
	defer c.Close()
	if err := c.SetDeadline(began.Add(simPatience)); err != nil {
		s.Fatal(err)
	}
	status, got, err := simExchange(c, from, method, name, body)
	if err != nil || status/100 != 2 || want != nil && !bytes.Equal(got, want) {
		s.Fatalf("seed %d: %s %s: %d, %d bytes after %v: %v; %+v", s.seed, method, name, status, len(got), time.Since(began), err, s.store.Stats())
	}
}

func simExchange(c net.Conn, from, method, name string, body []byte) (status int, got []byte, err error) {
	r, err := http.NewRequest(method, "http://sim"+path.Join("/files", name), bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+from)
	failed := make(chan error, 1)
	go func() { failed <- r.Write(c) }()
	answer, err := http.ReadResponse(bufio.NewReader(c), r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	got, err = io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 == 2 {
		err = <-failed
	}
	return answer.StatusCode, got, err
}

// kinds are the clients that make trouble. Each does so until the simulation ends.
var kinds = []func(*sim, *rand.Rand, string){
	func(s *sim, r *rand.Rand, from string) { s.send(from, 256<<10, 1, 0) },              // silent after a byte
	func(s *sim, r *rand.Rand, from string) { s.send(from, 256<<10, 255<<10, 0) },        // silent before the end
	func(s *sim, r *rand.Rand, from string) { s.send(from, 256<<10, 4<<10, 2<<10) },      // drips
	func(s *sim, r *rand.Rand, from string) { s.send(from, 1<<30, 255<<10, 2<<10) },      // drips, of a large file
	func(s *sim, r *rand.Rand, from string) { s.send(from, 1<<30, r.IntN(300_000), -1) }, // vanishes
	func(s *sim, r *rand.Rand, from string) { s.receive(from, 0) },                       // takes nothing
	func(s *sim, r *rand.Rand, from string) { s.receive(from, 2<<10) },                   // takes slowly
	func(s *sim, r *rand.Rand, from string) { s.receive(from, -1) },                      // vanishes
	func(s *sim, r *rand.Rand, from string) { s.dripMessage(from) },
	func(s *sim, r *rand.Rand, from string) { s.greedy(from, http.MethodPut) },
	func(s *sim, r *rand.Rand, from string) { s.greedy(from, http.MethodGet) },
}

// again runs do on one connection after another, until the simulation ends.
func (s *sim) again(from string, do func(c net.Conn)) {
	for s.ctx.Err() == nil {
		c := s.dial(from)
		stop := context.AfterFunc(s.ctx, func() { c.Close() })
		do(c)
		stop()
		c.Close()
		time.Sleep(time.Millisecond)
	}
}

// send announces a body, sends its first bytes at once, and then rate bytes a second. At rate 0
// it sends no more, and at -1 it hangs up.
func (s *sim) send(from string, size, first, rate int) {
	s.again(from, func(c net.Conn) {
		fmt.Fprintf(c, "PUT /files/evil HTTP/1.1\r\nHost: sim\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", from, size)
		if _, err := c.Write(make([]byte, first)); err != nil || rate < 0 {
			return
		}
		if rate == 0 {
			_, _ = io.Copy(io.Discard, c)
			return
		}
		for sent := first; sent < size; sent += rate {
			time.Sleep(time.Second)
			if _, err := c.Write(make([]byte, min(rate, size-sent))); err != nil {
				return
			}
		}
		_, _ = io.CopyN(io.Discard, c, 10)
	})
}

// receive asks for a large file and takes rate bytes of it a second. At rate 0 it takes nothing,
// and at -1 it hangs up after some bytes.
func (s *sim) receive(from string, rate int) {
	s.again(from, func(c net.Conn) {
		fmt.Fprintf(c, "GET /files/big HTTP/1.1\r\nHost: sim\r\nAuthorization: Bearer %s\r\n\r\n", from)
		switch {
		case rate < 0:
			_, _ = io.CopyN(io.Discard, c, 100_000)
			return
		case rate == 0:
			select {
			case <-s.ctx.Done():
			case <-time.After(20 * time.Second):
			}
			return
		}
		for {
			if _, err := io.CopyN(io.Discard, c, int64(rate)); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	})
}

// dripMessage uploads a file in one message, 2000 bytes a second.
func (s *sim) dripMessage(from string) {
	s.again(from, func(c net.Conn) {
		fmt.Fprintf(c, "POST %sUpload HTTP/1.1\r\nHost: sim\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: 1000000\r\n\r\n%s\x00\x00\x00\xea\x60", servicePath, from, stream, envelope(0, `{"name":"evil"}`))
		for s.ctx.Err() == nil {
			if _, err := c.Write(bytes.Repeat([]byte(" "), 2000)); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	})
}

// greedy makes one request after another.
func (s *sim) greedy(from, method string) {
	s.again(from, func(c net.Conn) {
		var body []byte
		if method == http.MethodPut {
			body = make([]byte, 1<<20)
		}
		_, _, _ = simExchange(c, from, method, "big", body)
	})
}
