package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
)

// serveAll serves a new store over HTTP/1.1 and h2c.
func serveAll(t testing.TB, engine fileio.Engine, o files.Options) string {
	t.Helper()
	s := enginetest.Open(t, engine, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	handler := files.NewServer(s, o)
	// Close the store after the last request. A request that was cut off over HTTP/2 may still
	// run when the server is closed.
	var requests sync.WaitGroup
	t.Cleanup(requests.Wait)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		defer requests.Done()
		handler.ServeHTTP(w, r)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// way is a way to call a service.
type way struct {
	json, http2 bool
}

func (w way) String() string { return fmt.Sprintf("json=%v,http2=%v", w.json, w.http2) }

func (w way) caller(t testing.TB, o files.CallerOptions) *files.Caller {
	t.Helper()
	o.JSON = w.json
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(!w.http2)
	transport.Protocols.SetUnencryptedHTTP2(w.http2)
	t.Cleanup(transport.CloseIdleConnections)
	trips := &trips{transport: transport}
	t.Cleanup(trips.under.Wait)
	o.HTTPClient = &http.Client{Transport: trips}
	c, err := files.NewCaller(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// trips counts running requests, to detect requests that never end.
type trips struct {
	transport *http.Transport
	under     sync.WaitGroup
}

func (t *trips) RoundTrip(r *http.Request) (*http.Response, error) {
	t.under.Add(1)
	defer t.under.Done()
	return t.transport.RoundTrip(r)
}

// eachWay runs a test over both versions of HTTP with both kinds of messages.
func eachWay(t *testing.T, test func(t *testing.T, w way)) {
	ways := []way{{}, {json: true, http2: true}, {json: true}, {http2: true}}
	if testing.Short() {
		ways = ways[:2]
	}
	for _, w := range ways {
		t.Run(w.String(), func(t *testing.T) { test(t, w) })
	}
}

// has checks the content of a file.
func has(t *testing.T, c *files.Caller, name, want string) {
	t.Helper()
	var got bytes.Buffer
	n, err := c.Download(t.Context(), name, &got)
	if err != nil || got.String() != want || n != int64(len(want)) {
		t.Errorf("%s: %v, %d bytes (said: %d), want %d", name, err, got.Len(), n, len(want))
	}
}

// hasNot checks that a file does not exist, by every way.
func hasNot(t *testing.T, c *files.Caller, name string) {
	t.Helper()
	if exists, err := c.Exist(t.Context(), name); exists || err != nil {
		t.Errorf("%s exists: %v, %v", name, exists, err)
	}
	var got bytes.Buffer
	if n, err := c.Download(t.Context(), name, &got); n != 0 || got.Len() != 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s has %d bytes: %v", name, n, err)
	}
}

func TestCall(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, page := range []int{1000, 0, 200_000} {
			at := serveAll(t, &direct.Engine{}, files.Options{PageSize: page})
			c := w.caller(t, files.CallerOptions{URL: at + "/", PageSize: page})
			for i, size := range []int{0, 1, 50_000, 65_536, 262_144, 1_000_000} {
				data := enginetest.Content(i, size)
				for _, said := range []int64{int64(size), -1} {
					if err := c.Upload(t.Context(), "team/a b.golden", bytes.NewReader(data), said); err != nil {
						t.Fatal(err)
					}
					has(t, c, "team/a b.golden", string(data))
				}
				// What is seen through one is seen through the other.
				ask(t, "GET", at+"/files/team/a%20b.golden", nil).wants(t, 200, string(data))
			}
			if exists, err := c.Exist(t.Context(), "team/a b.golden"); !exists || err != nil {
				t.Error(exists, err)
			}
			if err := c.Delete(t.Context(), "team/a b.golden"); err != nil {
				t.Error(err)
			}
			hasNot(t, c, "team/a b.golden")
			if err := c.Delete(t.Context(), "team/a b.golden"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "delete team/a b.golden: ") {
				t.Error(err)
			}
		}
	})
}

func TestCallClean(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		at := serveAll(t, &direct.Engine{}, files.Options{})
		c := w.caller(t, files.CallerOptions{URL: at})
		for _, name := range []string{"load/1", "load/2", "load/x/3", "load", "loaded/4", "other"} {
			if err := c.Upload(t.Context(), name, strings.NewReader(name), -1); err != nil {
				t.Fatal(err)
			}
		}
		for prefix, want := range map[string]int64{"load/": 3, "nobody": 0} {
			if n, err := c.Clean(t.Context(), prefix); n != want || err != nil {
				t.Error(prefix, n, err)
			}
		}
		if n, err := c.Clean(t.Context(), ""); n != 0 || err == nil || !strings.Contains(err.Error(), "no prefix") {
			t.Error(n, err)
		}
		hasNot(t, c, "load/x/3")
		for _, name := range []string{"load", "loaded/4", "other"} {
			has(t, c, name, name)
		}
	})
}

// More files than fit into one list.
func TestCallCleanMany(t *testing.T) {
	engine := &direct.Engine{}
	s := enginetest.Open(t, engine, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	server := httptest.NewServer(files.NewServer(s, files.Options{}))
	defer server.Close()
	const many = 2*fileio.ListMax + 1
	for i := range many {
		if _, err := s.Put(t.Context(), fmt.Sprintf("load/%d", i), strings.NewReader(""), 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Put(t.Context(), "x", strings.NewReader(""), 0, nil); err != nil {
		t.Fatal(err)
	}
	c, err := files.NewCaller(files.CallerOptions{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Clean(t.Context(), "load/"); n != many || err != nil {
		t.Error(n, err)
	}
	if left, _, err := s.List(t.Context(), "", "", fileio.ListMax); len(left) != 1 || left[0].Name != "x" || err != nil {
		t.Error(left, err)
	}
}

func TestCallBench(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		c := w.caller(t, files.CallerOptions{URL: serveAll(t, &direct.Engine{}, files.Options{PageSize: 1})})
		for _, size := range []int{0, 38, 64 << 10} {
			if err := c.Bench(t.Context(), enginetest.Content(1, size)); err != nil {
				t.Error(err)
			}
		}
		if err := c.Bench(t.Context(), make([]byte, 64<<10+1)); err == nil || !strings.Contains(err.Error(), "resource_exhausted") {
			t.Error(err)
		}
	})
}

// A failing reader must not leave a truncated file.
func TestCallWithBrokenReader(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		c := w.caller(t, files.CallerOptions{URL: serveAll(t, &direct.Engine{}, files.Options{})})
		if err := c.Upload(t.Context(), "old", strings.NewReader("before"), -1); err != nil {
			t.Fatal(err)
		}
		for _, reason := range []error{errors.New("no more paper"), io.ErrUnexpectedEOF} {
			for _, size := range []int{0, 10, 100_000, 900_000} {
				for _, name := range []string{"old", "new"} {
					r := io.MultiReader(bytes.NewReader(enginetest.Content(1, size)), iotest.ErrReader(reason))
					if err := c.Upload(t.Context(), name, r, -1); !errors.Is(err, reason) || !strings.Contains(err.Error(), "upload "+name+": ") {
						t.Error(err)
					}
				}
			}
		}
		has(t, c, "old", "before")
		hasNot(t, c, "new")
	})
}

func TestCallSizes(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		c := w.caller(t, files.CallerOptions{URL: serveAll(t, &direct.Engine{}, files.Options{BodyMax: 300_000})})
		for _, sizes := range [][2]int{{10, 9}, {10, 11}, {290_000, 280_000}, {290_000, 295_000}, {290_000, 0}} {
			err := c.Upload(t.Context(), "x", bytes.NewReader(enginetest.Content(1, sizes[0])), int64(sizes[1]))
			if err == nil || !strings.Contains(err.Error(), "invalid_argument") {
				t.Errorf("%d bytes as %d: %v", sizes[0], sizes[1], err)
			}
		}
		for _, said := range []int64{-1, 300_001} {
			err := c.Upload(t.Context(), "x", bytes.NewReader(enginetest.Content(1, 300_001)), said)
			if err == nil || !strings.Contains(err.Error(), "resource_exhausted") {
				t.Error(err)
			}
		}
		hasNot(t, c, "x")
	})
}

func TestCallErrors(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		c := w.caller(t, files.CallerOptions{URL: serveAll(t, &busy{}, files.Options{})})
		if err := c.Upload(t.Context(), "x", strings.NewReader("x"), 1); !errors.Is(err, fileio.ErrBusy) {
			t.Error(err)
		}
		if _, err := c.Exist(t.Context(), "x"); !errors.Is(err, fileio.ErrBusy) {
			t.Error(err)
		}
		c = w.caller(t, files.CallerOptions{URL: serveAll(t, faulty.New(&direct.Engine{}, faulty.Options{RoomFor: 10}), files.Options{})})
		if err := c.Upload(t.Context(), "x", strings.NewReader("before"), -1); err != nil {
			t.Error(err)
		}
		if err := c.Upload(t.Context(), "x", strings.NewReader("much more than there is"), -1); err == nil || !strings.Contains(err.Error(), "resource_exhausted: no space") {
			t.Error(err)
		}
		has(t, c, "x", "before")
		for _, bad := range []string{"", "../x", "a//b", "/x", "a\x00b", strings.Repeat("a", 300)} {
			if err := c.Upload(t.Context(), bad, strings.NewReader("x"), -1); err == nil || !strings.Contains(err.Error(), "invalid_argument") {
				t.Errorf("%q: %v", bad, err)
			}
			if _, err := c.Exist(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "invalid_argument") {
				t.Errorf("%q: %v", bad, err)
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Upload(gone, "y", strings.NewReader("x"), -1); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		hasNot(t, c, "y")
	})
}

func TestCallToken(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		at := serveAll(t, &direct.Engine{}, files.Options{Tokens: []string{"secret"}})
		calls := func(c *files.Caller) (errs []error) {
			_, exist := c.Exist(t.Context(), "x")
			_, download := c.Download(t.Context(), "x", io.Discard)
			_, clean := c.Clean(t.Context(), "y")
			return []error{exist, download, clean, c.Bench(t.Context(), nil), c.Delete(t.Context(), "x")}
		}
		good := w.caller(t, files.CallerOptions{URL: at, Token: "secret"})
		for _, token := range []string{"", "secrets"} {
			bad := w.caller(t, files.CallerOptions{URL: at, Token: token})
			errs := append(calls(bad), bad.Upload(t.Context(), "x", strings.NewReader("x"), -1))
			for _, err := range errs {
				if err == nil || !strings.Contains(err.Error(), "unauthenticated") {
					t.Error(err)
				}
			}
		}
		hasNot(t, good, "x")
		if err := good.Upload(t.Context(), "x", strings.NewReader("x"), -1); err != nil {
			t.Error(err)
		}
		for _, err := range calls(good) {
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// Tokens and files go only to the named server.
func TestCallsAreNotRedirected(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		var asked atomic.Int32
		elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
		defer elsewhere.Close()
		moved := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}))
		moved.Config.Protocols = new(http.Protocols)
		moved.Config.Protocols.SetHTTP1(true)
		moved.Config.Protocols.SetUnencryptedHTTP2(true)
		moved.Start()
		defer moved.Close()
		c := w.caller(t, files.CallerOptions{URL: moved.URL, Token: "secret"})
		_, exist := c.Exist(t.Context(), "x")
		_, download := c.Download(t.Context(), "x", io.Discard)
		for _, err := range []error{exist, download, c.Upload(t.Context(), "x", strings.NewReader("x"), 1)} {
			if err == nil || !strings.Contains(err.Error(), "307") {
				t.Error(err)
			}
		}
		if n := asked.Load(); n != 0 {
			t.Errorf("%d requests went elsewhere", n)
		}
	})
}

func TestCallerOptions(t *testing.T) {
	for _, o := range []files.CallerOptions{{}, {URL: "127.0.0.1:9999"}, {URL: "http://"}, {URL: "http://a/files/"}, {URL: "http://a", PageSize: -1}, {URL: "http://a", PageSize: files.PageSizeMax + 1}} {
		if _, err := files.NewCaller(o); err == nil {
			t.Errorf("%+v", o)
		}
	}
}
