package main_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Clients that do not read their answers take most of the files that may be open. The files that
// serve keeps open after a GET do not take the rest.
func TestOpenFilesLeaveSome(t *testing.T) {
	bin := build(t)
	s := newServer(t, bin, "--data", filepath.Join(t.TempDir(), "data"), "--sync", "none", "--open-files", "256")
	do := func(method, name string, body []byte) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.url+"/files/"+name, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	const small = 30
	for n := range small {
		do(http.MethodPut, strconv.Itoa(n), []byte("small"))
	}
	large := make([]byte, 8<<20)
	open := func() int {
		all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	for n := 0; open() < 244; n++ {
		name := fmt.Sprint("large", n)
		do(http.MethodPut, name, large)
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /files/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", name)
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	// After a second the large files are no longer among those that are kept open.
	for n, end := 0, time.Now().Add(2*time.Second); time.Now().Before(end); n++ {
		if status := do(http.MethodGet, strconv.Itoa(n%small), nil); status != http.StatusOK {
			t.Fatalf("GET %d: status %d", n, status)
		}
	}
}
