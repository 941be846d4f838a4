package files_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
	"muster/files"
)

// raw sends text to the server as it is.
func raw(t *testing.T, url, text string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// Who sends a part of a body and then nothing is sent away, and leaves no file.
func TestSlowUpload(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{Patience: 20 * time.Millisecond})
	for _, body := range []string{"", "some", strings.Repeat("a", 300_000)} {
		c := raw(t, url, "PUT /files/x HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n"+body)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%d bytes, then nothing: %s", len(body), answer.Status)
		}
	}
	ask(t, "GET", url+"/files/x", nil).wants(t, 404, "")
}

// Who takes nothing of an answer is sent away, and that is no error of the server's.
func TestSlowDownload(t *testing.T) {
	var log strings.Builder
	store := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	h := files.NewServer(store, files.Options{Patience: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil))})
	ended := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- struct{}{} }()
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	data := string(enginetest.Content(1, 32<<20)) // more than the system's buffers take
	// On a machine that is busy, the server would have no patience with a PUT.
	if _, err := store.Put(t.Context(), "x", strings.NewReader(data), -1, nil); err != nil {
		t.Fatal(err)
	}
	c := raw(t, server.URL, "GET /files/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	<-ended
	n, err := io.Copy(io.Discard, c)
	if n >= int64(len(data)) {
		t.Errorf("%d bytes were there after all: %v", n, err)
	}
	if log.Len() > 0 {
		t.Error(log.String())
	}
	ask(t, "GET", server.URL+"/files/x", nil, "Range", fmt.Sprintf("bytes=0-%d", 99)).wants(t, 206, data[:100])
}

// What is refused before its body is asked for is answered at once, though the client waits
// to be asked; and one that sends nothing of its body unasked either is answered in the end.
func TestRefusedWithoutItsBody(t *testing.T) {
	for expect, patience := range map[string]time.Duration{"Expect: 100-continue\r\n": time.Hour, "": 20 * time.Millisecond} {
		url := serve(t, &direct.Engine{}, files.Options{Patience: patience, Token: "secret"})
		for name, want := range map[string]int{"a//b": http.StatusBadRequest, "a/b": http.StatusUnauthorized} {
			token := "Authorization: Bearer secret\r\n"
			if want == http.StatusUnauthorized {
				token = ""
			}
			c := raw(t, url, "PUT /files/"+name+" HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"+expect+token+"\r\n")
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(expect, name, err)
			}
			answer.Body.Close()
			if answer.StatusCode != want || !answer.Close {
				t.Errorf("%q, %s: %s, %v", expect, name, answer.Status, answer.Header)
			}
		}
	}
}

// A body that is cut off, or no body, is the client's mistake, and nothing to be logged as
// the server's.
func TestCutOffIsNoErrorOfTheServer(t *testing.T) {
	var log strings.Builder
	url := serve(t, &direct.Engine{}, files.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, body := range []string{"Content-Length: 100\r\n\r\nsome", "Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n", "Transfer-Encoding: chunked\r\n\r\nno chunk\r\n"} {
		c := raw(t, url, "PUT /files/x HTTP/1.1\r\nHost: x\r\n"+body)
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %s", body, answer.Status)
		}
	}
	if log.Len() > 0 {
		t.Error(log.String())
	}
	ask(t, "GET", url+"/files/x", nil).wants(t, 404, "")
}
