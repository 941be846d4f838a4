package load_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"muster/files/load"
)

// odd is a server that answers each request with the same bytes, and closes the connection
// after so many requests; 0 = never.
func odd(t *testing.T, reply string, requestsMax int) (url string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { conn.Close() })
			go answerOddly(conn, reply, requestsMax)
		}
	}()
	return "http://" + l.Addr().String()
}

func answerOddly(conn net.Conn, reply string, requestsMax int) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := 1; ; n++ {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if _, err := io.WriteString(conn, reply); err != nil || n == requestsMax {
			return
		}
	}
}

// Servers answer in many ways. An invalid answer is a failure and never a hang.
func TestOddServers(t *testing.T) {
	for _, c := range []struct {
		name, reply string
		requestsMax int
		reason      string // "" = it succeeds
	}{
		{"chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nTrailer: t\r\n\r\n", 0, ""},
		{"no body", "HTTP/1.1 204 No Content\r\n\r\n", 0, ""},
		{"no reason phrase", "HTTP/1.1 200\r\nContent-Length:0\r\n\r\n", 0, ""},
		{"lines without CR", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", 0, ""},
		{"100 Continue before it", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", 0, ""},
		{"Connection: close", "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok", 1, ""},
		{"closed without a word", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 1, ""},
		{"closed without a word, later", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 3, ""},
		{"up to the end", "HTTP/1.1 200 OK\r\n\r\nall that comes", 1, ""},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 1, ""},

		{"503 with a body", "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 19\r\n\r\ntoo much\x1b[2J\nlater.", 0, "503 Service Unavailable: too much[2J"},
		{"503 and close", "HTTP/1.1 503 Busy\r\nConnection: close\r\n\r\ntoo much", 1, "503 Service Unavailable: too much"},
		{"a redirect", "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", 0, "302 Found"},
		{"a page", "HTTP/1.1 404 No\r\nContent-Length: 6\r\n\r\n<html>", 0, "404 Not Found"},
		{"a body cut short", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", 1, "no answer: the answer is cut short"},
		{"chunks cut short", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", 1, "no answer: the connection was closed"},
		{"chunks without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\noo\r\n0\r\n", 1, "no answer: malformed chunked encoding"},
		{"no number of bytes", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 1, "no answer: the answer is not HTTP/1"},
		{"an unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", 1, "no answer: the answer is not HTTP/1"},
		{"another protocol", "SSH-2.0-OpenSSH_9.6\r\n", 1, "no answer: the answer is not HTTP/1"},
		{"HTTP/2", "HTTP/2.0 200 OK\r\n\r\n", 1, "no answer: the answer is not HTTP/1"},
		{"a head cut short", "HTTP/1.1 200 OK\r\nContent-", 1, "no answer: the answer is cut short"},
		{"a long line", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100_000) + "\r\n\r\n", 1, "no answer: the answer's head is too large"},
		{"nothing", "", 1, "no answer: the connection was closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := load.Options{URL: odd(t, c.reply, c.requestsMax), Op: load.Delete, Connections: 2, Requests: 10}
			r, err := load.Run(t.Context(), o)
			if r == nil {
				t.Fatal(err)
			}
			if c.reason == "" {
				wants(t, r, 10, 0)
			} else {
				wants(t, r, 0, 10, c.reason)
			}
		})
	}
}

// A body is compared in pieces of any size.
func TestOddBodies(t *testing.T) {
	url := odd(t, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 0)
	wants(t, run(t, load.Options{URL: url, Op: load.Download, Connections: 1, Requests: 3, Size: 3}), 0, 3, "differ from the uploaded")
	url = odd(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0)
	wants(t, run(t, load.Options{URL: url, Op: load.Download, Connections: 1, Requests: 3}), 3, 0)
	// The answer to HEAD has the length of a body that does not follow.
	url = odd(t, "HTTP/1.1 200 OK\r\nContent-Length: 51200\r\n\r\n", 0)
	wants(t, run(t, load.Options{URL: url, Op: load.Exist, Connections: 1, Requests: 3}), 3, 0)
}
