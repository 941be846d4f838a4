package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"muster/test/kits/buckettest"
)

// A thousand connections to a server of a bucket stay within its limits. Half of them are clients
// that do not read their answers: they hold no connection to the object store, and do not keep
// others from being served.
func TestBucketServerIsBounded(t *testing.T) {
	const clients, memory = 1000, 64 << 20
	buckettest.Setenv(t)
	var running, most atomic.Int64
	kept := buckettest.New()
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		kept.ServeHTTP(w, r)
	}))
	t.Cleanup(store.Close)
	s := newServer(t, build(t), "--data", "s3://kept", "--endpoint", store.URL, "--memory", "64M", "--rate-min", "1")
	large, small := random(4<<20), random(50_000)
	put(t, s.url+"/files/large", large, http.StatusNoContent)
	before := openFiles(t, s.Process.Pid)

	slow := make([]net.Conn, clients/2)
	for i := range slow {
		slow[i] = dialNarrow(t, strings.TrimPrefix(s.url, "http://"))
		defer slow[i].Close()
		fmt.Fprintf(slow[i], "GET /files/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	for _, c := range slow[:50] { // the share of one client has no memory for all
		if _, err := io.ReadFull(c, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	var open atomic.Int64
	transport := &http.Transport{MaxConnsPerHost: clients / 2, MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	for i := range clients - len(slow) {
		wait.Go(func() {
			for _, method := range []string{http.MethodPut, http.MethodGet, http.MethodGet} {
				if err := transfer(&http.Client{Transport: transport}, method, fmt.Sprint(s.url, "/files/small", i), small); err != nil {
					t.Error(err)
				}
			}
			open.Store(max(open.Load(), int64(openFiles(t, s.Process.Pid))))
		})
	}
	wait.Wait()
	for running.Load() > 0 { // the slow ones' pieces are in memory soon
		runtime.Gosched()
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", s.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	peak := statusLine(t, s.Process.Pid, "VmHWM") << 10
	t.Logf("%d threads, %d MB, %d files, %d of them before; %d requests to the object store at a time", len(tasks), peak/1e6, open.Load(), before, most.Load())
	// The files have the 64 connections to the object store. There, a request may still run that
	// the server has broken off.
	if len(tasks) > 32+4+8 || open.Load() > int64(before)+clients+64 || peak > memory+clients*(64<<10)+(96<<20) && !race {
		t.Error("that is more than the limits")
	}
	for _, c := range slow[1:] {
		c.Close()
	}
	if n, err := io.CopyN(io.Discard, slow[0], 256<<10); err != nil { // it goes on when it reads
		t.Errorf("a slow client has %d bytes, %v", n, err)
	}
}

// dialNarrow connects with a small buffer for what the client has not read.
func dialNarrow(t *testing.T, address string) net.Conn {
	t.Helper()
	narrow := func(_, _ string, c syscall.RawConn) (err error) {
		failed := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return errors.Join(err, failed)
	}
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)} // another client than 127.0.0.1, whose share of memory it does not take
	c, err := (&net.Dialer{Control: narrow, LocalAddr: from}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// transfer sends a request, and checks what it gets.
func transfer(client *http.Client, method, url string, data []byte) error {
	r, err := http.NewRequest(method, url, nil)
	if method == http.MethodPut {
		r, err = http.NewRequest(method, url, bytes.NewReader(data))
	}
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(answer.Body)
	if method == http.MethodGet && !bytes.Equal(got, data) || answer.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s: status %d, %d bytes", method, answer.StatusCode, len(got))
	}
	return errors.Join(err, answer.Body.Close())
}

func openFiles(t *testing.T, pid int) int {
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Error(err)
	}
	return len(all)
}

// statusLine returns a number of the kernel's description of a process, in KiB.
func statusLine(t *testing.T, pid int, key string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), key+":")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
