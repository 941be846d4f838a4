package files_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/files/internal/pace"
	"muster/test/kits/enginetest"
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

// A bubble is a server by the clock of a synctest bubble, on a network in memory.
type bubble struct {
	*testing.T
	store *fileio.Store
	net   simNet
}

// inBubble runs a function with a server in a bubble.
func inBubble(t *testing.T, o files.Options, do func(*bubble)) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{T: t, net: simNet{make(pipes)}}
		b.store = enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{Sync: fileio.SyncNone, JobsOnly: true})
		server := &http.Server{Handler: files.NewServer(b.store, o)}
		go func() { _ = server.Serve(pace.Listener(b.net, 1<<10)) }()
		do(b)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // net/http waits a little before it closes a connection
	})
}

// raw sends text to the server as it is, as far as the server reads it.
func (b *bubble) raw(text string) net.Conn {
	c := b.net.dial("10.0.0.1")
	b.Cleanup(func() { c.Close() })
	go func() { _, _ = io.WriteString(c, text) }()
	return c
}

// has reports whether the store has a file.
func (b *bubble) has(name string) bool {
	_, err := b.store.Stat(b.Context(), name)
	return err == nil
}

// A client that stops within a body gets 408 after 5 s and leaves no file.
func TestSlowUpload(t *testing.T) {
	inBubble(t, files.Options{}, func(b *bubble) {
		for _, body := range []string{"", "some", strings.Repeat("a", 300_000)} {
			c := b.raw("PUT /files/x HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n" + body)
			began := time.Now()
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				b.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if took := time.Since(began); answer.StatusCode != http.StatusRequestTimeout || took != 5*time.Second {
				b.Errorf("%d bytes, then nothing: %s after %v", len(body), answer.Status, took)
			}
			if err != nil || !strings.Contains(string(text), "the client took too long") {
				b.Errorf("%d bytes, then nothing: %s, %v", len(body), text, err)
			}
		}
		if b.has("x") {
			b.Error("a part of a body is a file")
		}
	})
}

// 600 clients announce 256 KiB each, more than the memory in total, and send one byte each.
// They delay no other client, not even at their own address.
func TestAnnouncedTakesNoMemory(t *testing.T) {
	inBubble(t, files.Options{}, func(b *bubble) {
		data := enginetest.Content(1, 50_000)
		enginetest.Put(b.T, b.store, "x", data)
		for range 600 {
			b.raw("PUT /files/y HTTP/1.1\r\nHost: x\r\nContent-Length: 262144\r\n\r\n1")
		}
		synctest.Wait()
		began := time.Now()
		for request, want := range map[string]string{
			"GET /files/x HTTP/1.1\r\nHost: x\r\n\r\n":                           string(data),
			"PUT /files/z HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nsmall": "",
		} {
			answer, err := http.ReadResponse(bufio.NewReader(b.raw(request)), nil)
			if err != nil {
				b.Fatal(err)
			}
			got, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode/100 != 2 || string(got) != want {
				b.Errorf("%.20q: %s, %d bytes, %v", request, answer.Status, len(got), err)
			}
		}
		if took := time.Since(began); took > 0 {
			b.Errorf("two requests took %v", took)
		}
	})
}

// A body that comes slowly, but not below the minimum rate, is stored.
func TestDrippingUpload(t *testing.T) {
	inBubble(t, files.Options{}, func(b *bubble) {
		c := b.raw("PUT /files/x HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n")
		go func() {
			for range 20 {
				time.Sleep(900 * time.Millisecond)
				_, _ = c.Write(make([]byte, 1000))
			}
		}()
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			b.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusNoContent || !b.has("x") {
			b.Error(answer.Status)
		}
	})
}

// A client that reads below the minimum rate is cut off, without an error in the log. A client
// slightly above the rate gets the whole answer.
func TestSlowDownload(t *testing.T) {
	var log strings.Builder
	inBubble(t, files.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, func(b *bubble) {
		data := enginetest.Content(1, 200_000)
		enginetest.Put(b.T, b.store, "x", data)
		for rate, want := range map[int]bool{0: false, 500: false, 1100: true} {
			c := b.raw("GET /files/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			n := int64(0)
			for range 200 {
				time.Sleep(time.Second)
				more, err := io.CopyN(io.Discard, c, int64(rate))
				if n += more; err != nil {
					break
				}
			}
			if (n > int64(len(data))) != want {
				b.Errorf("%d bytes a second: %d", rate, n)
			}
		}
	})
	if log.Len() > 0 {
		t.Error(log.String())
	}
}

// If a request is refused before its body is read, a client with Expect: 100-continue gets the
// answer at once. A client that neither expects nor sends gets it after 5 s.
func TestRefusedWithoutItsBody(t *testing.T) {
	inBubble(t, files.Options{Tokens: []string{"secret"}}, func(b *bubble) {
		for expect, after := range map[string]time.Duration{"Expect: 100-continue\r\n": 0, "": 5 * time.Second} {
			for name, want := range map[string]int{"a//b": http.StatusBadRequest, "a/b": http.StatusUnauthorized} {
				token := "Authorization: Bearer secret\r\n"
				if want == http.StatusUnauthorized {
					token = ""
				}
				began := time.Now()
				c := b.raw("PUT /files/" + name + " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n" + expect + token + "\r\n")
				answer, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					b.Fatal(expect, name, err)
				}
				answer.Body.Close()
				if took := time.Since(began); answer.StatusCode != want || !answer.Close || took != after {
					b.Errorf("%q, %s: %s, %v after %v", expect, name, answer.Status, answer.Header, took)
				}
			}
		}
	})
}

// A truncated or missing body is the client's error, and is not logged as the server's.
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
