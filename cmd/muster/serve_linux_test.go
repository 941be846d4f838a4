package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lacks skips a test for lack of something, or fails it.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("no %s", what)
	}
	t.Skipf("no %s", what)
}

// connections is the number of connections that are open and idle at once, if the system allows
// it.
const connections = 10_000

// Ten thousand idle connections take no threads, and do not delay others.
func TestIdleConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand connections")
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < connections+200 {
		lacks(t, fmt.Sprintf("%d open files, %d are allowed (%v)", connections+200, files.Cur, err))
	}
	s := newServer(t, build(t), "--data", filepath.Join(t.TempDir(), "kept"))
	for range connections {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	put(t, s.url+"/files/one", []byte("still there"), http.StatusNoContent)
	if got := get(t, s.url+"/files/one"); string(got) != "still there" {
		t.Errorf("%q", got)
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", s.Process.Pid))
	if err != nil || len(tasks) > 32+4+8 {
		t.Errorf("%d threads, %v", len(tasks), err)
	}
}

// An upload that was accepted before the server was asked to end is not lost.
func TestEndDuringUpload(t *testing.T) {
	bin, data := build(t), filepath.Join(t.TempDir(), "kept")
	s := newServer(t, bin, "--data", data)
	body, sent := io.Pipe()
	first, rest := random(1<<20), random(1<<20)
	answered := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.url+"/files/one", body)
		if err == nil {
			r.Header.Set("Expect", "100-continue")
			var got *http.Response
			if got, err = (&http.Transport{ExpectContinueTimeout: time.Minute}).RoundTrip(r); err == nil && got.StatusCode != http.StatusNoContent {
				err = errors.New(got.Status)
			}
		}
		answered <- err
	}()
	if _, err := sent.Write(first); err != nil { // the server has asked for it
		t.Fatal(err)
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for { // until nobody listens any more
		other, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			break
		}
		other.Close()
	}
	if _, err := sent.Write(rest); err != nil {
		t.Fatal(err)
	}
	sent.Close()
	if err := errors.Join(<-answered, s.Wait()); err != nil {
		t.Fatal(err)
	}
	s = newServer(t, bin, "--data", data)
	if got := get(t, s.url+"/files/one"); !bytes.Equal(got, append(first, rest...)) {
		t.Errorf("%d bytes", len(got))
	}
}

func random(size int) []byte {
	data := make([]byte, size)
	r := rand.NewChaCha8([32]byte{byte(size)})
	_, _ = r.Read(data) // it never fails
	return data
}

func put(t *testing.T, url string, body []byte, want int) {
	t.Helper()
	var status statusError
	err := tryPut(url, body)
	if errors.As(err, &status) {
		err = nil
	} else if err == nil {
		status = http.StatusNoContent
	}
	if err != nil || int(status) != want {
		t.Errorf("PUT of %d bytes: status %d, not %d, %v", len(body), status, want, err)
	}
}

type statusError int

func (s statusError) Error() string { return http.StatusText(int(s)) }

func tryPut(url string, body []byte) error {
	r, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusNoContent {
		return statusError(got.StatusCode)
	}
	return nil
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	got, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
