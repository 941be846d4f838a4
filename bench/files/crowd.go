package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"muster/bench/timing"
)

// A crowd is many clients at once, with slow ones and large files among them: what muster
// takes of memory and threads then, and what the others notice.
type crowd struct {
	slow, large int
	largeSize   int64
}

const (
	slowPace  = 100 * time.Millisecond // between two pieces of a slow client
	slowPiece = 1 << 10
	slowSize  = 256 << 10
)

// measureCrowd puts the default engine under load alone, and with a crowd beside it, in
// turns.
func (b *bench) measureCrowd(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, b.removeDisk(ctx)) }()
	c := crowd{slow: 32, large: 2, largeSize: 1 << 30}
	ours := b.contestants()[0]
	fmt.Fprintf(b.out, "\n%s; %d connections, %d uploads of %s; crowd: %d clients that send %d bytes every %v, %d uploads of %d bytes\n\n",
		time.Now().UTC().Format(time.DateOnly), b.connections, b.requests, b.size, c.slow, slowPiece, slowPace, c.large, c.largeSize)
	fmt.Fprintf(b.out, "| | requests/s | p50 ms | p99 ms | threads at most | failed | most memory MiB |\n|---|---|---|---|---|---|---|\n")
	for round := range b.rounds {
		for _, beside := range []*crowd{nil, {slow: c.slow}, &c} {
			r, memory, err := b.crowded(ctx, ours, beside)
			if err != nil {
				return err
			}
			fmt.Fprintf(b.out, "| round %d, %s | %.0f | %.1f | %.1f | %d | %d | %.0f |\n", round+1, beside.name(), r.PerSecond, r.P50, r.P99, r.Threads, r.Failed, memory)
		}
	}
	return nil
}

func (c *crowd) name() string {
	switch {
	case c == nil:
		return "alone"
	case c.large == 0:
		return fmt.Sprintf("%d slow clients", c.slow)
	}
	return fmt.Sprintf("%d slow clients, %d large uploads", c.slow, c.large)
}

// crowded returns what the load had, and how much memory the server had at most, in MiB.
func (b *bench) crowded(ctx context.Context, ours contestant, beside *crowd) (r result, memory float64, err error) {
	if err := b.renewDisk(ctx); err != nil {
		return r, 0, err
	}
	s, err := start(ctx, ours, b.folder)
	if err != nil {
		return r, 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	ctx, cancel := context.WithCancel(ctx)
	var clients sync.WaitGroup
	if beside != nil {
		for i := range beside.slow {
			clients.Go(func() { trickle(ctx, s.addr, i) })
		}
		for i := range beside.large {
			clients.Go(func() { uploadZeros(ctx, s.addr, i, beside.largeSize) })
		}
	}
	r, err = b.loadOn(ctx, ours, s, upload)
	cancel()
	clients.Wait()
	if err != nil {
		return r, 0, err
	}
	return r, float64(timing.WatchPeak(s.Process.Pid)()) / (1 << 20), nil
}

// trickle uploads one file after another, a piece now and then.
func trickle(ctx context.Context, addr string, client int) {
	piece := make([]byte, slowPiece)
	for ctx.Err() == nil {
		connection, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		fmt.Fprintf(connection, "PUT /files/slow/%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", client, slowSize)
		for range slowSize / slowPiece {
			select {
			case <-ctx.Done():
			case <-time.After(slowPace):
			}
			if _, err := connection.Write(piece); err != nil || ctx.Err() != nil {
				break
			}
		}
		_ = connection.Close()
	}
}

// announce keeps many clients connected that each announce a file, send one byte of it and
// then nothing, and connect again when they are sent away. It returns once all have sent it.
func announce(ctx context.Context, addr string, clients int) (wait func()) {
	var all, begun sync.WaitGroup
	begun.Add(clients)
	for i := range clients {
		all.Go(func() {
			once := sync.OnceFunc(begun.Done)
			defer once()
			for ctx.Err() == nil {
				stand(ctx, addr, i, once)
			}
		})
	}
	begun.Wait()
	return all.Wait
}

// stand makes one connection of a client that announces a file.
func stand(ctx context.Context, addr string, client int, sent func()) {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	fmt.Fprintf(connection, "PUT /files/silent/%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n1", client, slowSize)
	sent()
	_, _ = io.Copy(io.Discard, connection)
}

// takeProcessors starts processes that never wait, until they are released.
func takeProcessors(ctx context.Context, n int) (release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var all []*exec.Cmd
	release = func() {
		cancel()
		for _, c := range all {
			_ = c.Wait() // it was killed
		}
	}
	for range n {
		c := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			release()
			return nil, err
		}
		all = append(all, c)
	}
	return release, nil
}

// uploadZeros uploads a large file again and again.
func uploadZeros(ctx context.Context, addr string, client int, size int64) {
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, fmt.Sprintf("http://%s/files/large/%d", addr, client), io.LimitReader(zeros{}, size))
		if err != nil {
			return
		}
		r.ContentLength = size
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
