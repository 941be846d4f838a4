package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/files/load"
	"muster/test/kits/enginetest"
)

// store is a server with files, and what they are.
func store(t *testing.T, tokens ...string) (url string, s *fileio.Store) {
	t.Helper()
	s = enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	server := httptest.NewServer(files.NewServer(s, files.Options{Tokens: tokens}))
	t.Cleanup(server.Close)
	return server.URL, s
}

// run makes a load that must come to its end.
func run(t *testing.T, o load.Options) *load.Result {
	t.Helper()
	result, err := load.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// wants checks the number of successes and the reasons of failures.
func wants(t *testing.T, r *load.Result, succeeded, failed int64, reasons ...string) {
	t.Helper()
	if r.Succeeded != succeeded || r.Failed != failed || len(r.Failures) != len(reasons) {
		t.Fatalf("%s: %d succeeded and %d failed for %v, want %d and %d for %q", r.Op, r.Succeeded, r.Failed, r.Failures, succeeded, failed, reasons)
	}
	for i, f := range r.Failures {
		if !strings.Contains(f.Reason, reasons[i]) {
			t.Errorf("%s: a request failed for %q, want %q", r.Op, f.Reason, reasons[i])
		}
	}
}

func TestFiles(t *testing.T) {
	for _, protocol := range load.Protocols() {
		for _, size := range []int64{0, 1, 51_200, 300_000} {
			t.Run(fmt.Sprintf("%s/%d", protocol, size), func(t *testing.T) { checkFiles(t, protocol, size) })
		}
	}
}

// missing is how each protocol says that a file is not there.
func missing(p load.Protocol, op load.Op) string {
	switch {
	case p == load.HTTP:
		return "404 Not Found"
	case op == load.Exist:
		return "the file does not exist"
	}
	return string(op) + " NAME: file does not exist"
}

func checkFiles(t *testing.T, protocol load.Protocol, size int64) {
	url, s := store(t, "secret")
	mine := []byte("not of a load")
	if _, err := s.Put(t.Context(), "loaded/mine", bytes.NewReader(mine), int64(len(mine)), nil); err != nil {
		t.Fatal(err)
	}
	o := load.Options{URL: url, Token: "secret", Protocol: protocol, Connections: 8, Requests: 40, Size: size}
	for _, op := range []load.Op{load.Upload, load.Exist, load.Download, load.Upload, load.Delete} {
		o.Op = op
		r := run(t, o)
		wants(t, r, 40, 0)
		if l := r.Latency; l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.Max || l.Max > r.Wall*2 {
			t.Errorf("%s: latencies %+v of %v", op, l, r.Wall)
		}
	}
	for _, op := range []load.Op{load.Exist, load.Download, load.Delete} {
		o.Op = op
		wants(t, run(t, o), 0, 40, missing(protocol, op))
	}
	many := 20
	if size == 0 {
		many = fileio.ListMax + 100 // more than one page of a list
	}
	o.Op, o.Requests = load.Upload, many
	wants(t, run(t, o), int64(many), 0)
	o.Op, o.Requests = load.Clean, 0
	wants(t, run(t, o), int64(many), 0)
	infos, _, err := s.List(t.Context(), "", "", fileio.ListMax)
	if err != nil || len(infos) != 1 || infos[0].Name != "loaded/mine" {
		t.Errorf("after clean there are %v (%v), want the one file that is not of a load", infos, err)
	}
	wants(t, run(t, o), 0, 0)
	o.Op, o.Requests = load.Bench, 100
	wants(t, run(t, o), 100, 0)
}

// A body that differs from the uploaded one is a failure, whatever the server reports.
func TestWrongBytes(t *testing.T) {
	url, s := store(t)
	o := load.Options{URL: url, Op: load.Upload, Connections: 4, Requests: 40, Size: 1000}
	wants(t, run(t, o), 40, 0)
	infos, _, err := s.List(t.Context(), load.Prefix, "", fileio.ListMax)
	if err != nil {
		t.Fatal(err)
	}
	whole := func(name string) []byte {
		f, err := s.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var b bytes.Buffer
		if err := f.CopyTo(t.Context(), &b, 0, f.Size); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	turned := whole(infos[0].Name)
	turned[999] ^= 1
	for i, data := range [][]byte{turned, whole(infos[1].Name)[:999], append(whole(infos[2].Name), 0), whole(infos[4].Name), {}} {
		if _, err := s.Put(t.Context(), infos[i].Name, bytes.NewReader(data), int64(len(data)), nil); err != nil {
			t.Fatal(err)
		}
	}
	o.Op = load.Download
	for _, o.Protocol = range load.Protocols() {
		wants(t, run(t, o), 35, 5, "differ from the uploaded")
	}
}

func TestToken(t *testing.T) {
	url, _ := store(t, "secret")
	o := load.Options{URL: url, Op: load.Upload, Connections: 4, Requests: 20, Size: 10, Token: "wrong"}
	wants(t, run(t, o), 0, 20, "401 Unauthorized: a token is wanted")
	o.Op = load.Clean
	wants(t, run(t, o), 0, 1, "unauthenticated")
	o.Op, o.Protocol = load.Exist, load.Protobuf
	wants(t, run(t, o), 0, 20, "unauthenticated")
}

func TestBench(t *testing.T) {
	var wrong atomic.Bool
	echo := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != "POST" || r.URL.Path != "/below/bench" || len(body) != 38 {
			http.Error(w, "no echo", http.StatusBadRequest)
			return
		}
		if wrong.Load() {
			body[7]++
		}
		w.Write(body)
	}))
	defer echo.Close()
	plain := httptest.NewServer(echo.Config.Handler)
	defer plain.Close()
	o := load.Options{URL: plain.URL + "/below/", Op: load.Bench, Connections: 3, Requests: 50}
	wants(t, run(t, o), 50, 0)
	wrong.Store(true)
	wants(t, run(t, o), 0, 50, "differ from the uploaded")
	o.URL = echo.URL + "/below" // with an untrusted certificate
	var gone *load.UnreachableError
	if _, err := load.Run(t.Context(), o); !errors.As(err, &gone) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v, want an error of its certificate", err)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 20 {
			cancel()
			<-release
		}
	}))
	defer server.Close()
	defer close(release)
	r, err := load.Run(ctx, load.Options{URL: server.URL, Op: load.Exist, Connections: 4, Requests: 1000})
	if !errors.Is(err, context.Canceled) || r == nil {
		t.Fatalf("%v and %v, want what was done, and that it was interrupted", r, err)
	}
	// The server may have answered further requests that the load no longer counted.
	if !r.Interrupted || r.Succeeded < 17 || r.Succeeded > 20 || r.Failed != 0 {
		t.Errorf("%d succeeded and %d failed for %v, interrupted: %v", r.Succeeded, r.Failed, r.Failures, r.Interrupted)
	}
}

func TestUnreachable(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	closing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }))
	defer closing.Close()
	end := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer silent.Close()
	defer close(end)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	encrypted := httptest.NewUnstartedServer(http.NotFoundHandler())
	encrypted.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of handshakes that its client refuses
	encrypted.StartTLS()
	defer encrypted.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts its connections
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	for _, c := range []struct {
		url, reason string
		timeout     time.Duration // of a server that does not answer: the load gives up while it connects, or later
	}{
		{closed.URL, "connection refused", 0},
		{closing.URL, "no answer: the connection was closed", 0},
		{silent.URL, "no answer in time", 10 * time.Millisecond},
		{"https://" + mute.Addr().String(), "no answer in time", 10 * time.Millisecond},
		{strings.Replace(plain.URL, "http:", "https:", 1), "the server does not speak TLS: use http:// in the address", 0},
		{encrypted.URL, "the server's certificate is of an authority that this machine does not trust: set SSL_CERT_FILE to the file with the authority's certificate", 0},
	} {
		for _, protocol := range load.Protocols() {
			_, err := load.Run(t.Context(), load.Options{URL: c.url, Protocol: protocol, Op: load.Exist, Connections: 2, Requests: 10, Timeout: c.timeout})
			var gone *load.UnreachableError
			if !errors.As(err, &gone) {
				t.Errorf("%s, %s: %v, want that it cannot be reached", c.url, protocol, err)
			} else if want := "the server " + c.url + " cannot be reached: " + c.reason; err.Error() != want {
				t.Errorf("%s: %v, want %s", protocol, err, want)
			}
		}
	}
}

// A server that goes away during a load is asked at a bounded rate.
func TestServerThatGoesAway(t *testing.T) {
	for _, protocol := range load.Protocols() {
		var server *httptest.Server
		server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusNotFound)
			go server.Listener.Close()
		}))
		defer server.Close()
		result, err := load.Run(t.Context(), load.Options{
			URL: server.URL, Protocol: protocol, Op: load.Download, Connections: 2, Requests: 1, Duration: 300 * time.Millisecond,
		})
		var gone *load.UnreachableError
		if err != nil && !errors.As(err, &gone) || result == nil || result.Failed == 0 || result.Failed > 100 {
			t.Errorf("%s: %v, %+v", protocol, err, result)
		}
	}
}

func TestMistakes(t *testing.T) {
	good := load.Options{URL: "http://127.0.0.1:1", Op: load.Exist, Connections: 1, Requests: 1}
	for want, change := range map[string]func(*load.Options){
		"0 connections":                    func(o *load.Options) { o.Connections = 0 },
		"-1 requests":                      func(o *load.Options) { o.Requests = -1 },
		"a size of -1":                     func(o *load.Options) { o.Size = -1 },
		"a rate of -1":                     func(o *load.Options) { o.Rate = -1 },
		"\"127.0.0.1\" is not the address": func(o *load.Options) { o.URL = "127.0.0.1" },
		"the address of there must not have a user": func(o *load.Options) { o.URL = "http://user:secret@there" },
		"a timeout of -1s":                          func(o *load.Options) { o.Timeout = -time.Second },
		"the token":                                 func(o *load.Options) { o.Token = "a\r\nb" },
		"is not the address":                        func(o *load.Options) { o.URL, o.Protocol = "http://there/below", load.JSON },
		"no protocol":                               func(o *load.Options) { o.Protocol = "gopher" },
	} {
		o := good
		change(&o)
		_, err := load.Run(t.Context(), o)
		var mistake *load.InputError
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestReports(t *testing.T) {
	url, _ := store(t)
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "# TYPE muster_os_threads gauge\nmuster_os_threads 17\nother 3\n")
	}))
	defer metrics.Close()
	o := load.Options{URL: url, Op: load.Exist, Connections: 2, Requests: 30, Threads: load.Threads{Admin: metrics.URL + "/"}}
	r := run(t, o)
	var text, line, page bytes.Buffer
	for _, err := range []error{r.Text(&text), r.JSON(&line), r.HTML(&page)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"exist: 30 requests, 2 connections, http\n", "\nsuccesses   0\n", "\nfailures    30\n            30: 404 Not Found\n", "\ncost ", "\nqps ", "\nOS threads  17 at most\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, &text)
		}
	}
	var object map[string]any
	if err := json.Unmarshal(line.Bytes(), &object); err != nil || bytes.Count(line.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("%v in %s", err, &line)
	}
	for key, want := range map[string]any{"type": "load", "op": "exist", "protocol": "http", "concurrency": 2.0, "requests": 30.0, "succeeded": 0.0, "failed": 30.0, "threads_peak": 17.0, "interrupted": false} {
		if object[key] != want {
			t.Errorf("%s is %v, want %v", key, object[key], want)
		}
	}
	if !strings.Contains(page.String(), "17 at most") || strings.Count(page.String(), "<svg") < 2 || strings.Contains(page.String(), "src=") {
		t.Errorf("the page is not whole, or needs others:\n%s", &page)
	}
	if strings.Contains(page.String(), "0.000 ms") {
		t.Error("the page has latencies without a success")
	}
	o.Threads.Admin = url
	if _, err := load.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "threads cannot be counted") {
		t.Errorf("%v, want that there are no figures", err)
	}
}
