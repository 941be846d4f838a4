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
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/test/kits/enginetest"
)

// got reads a whole file.
func got(t *testing.T, c *files.Client, address, ifNoneMatch string) (data string, r *files.Content, err error) {
	t.Helper()
	if r, err = c.Get(t.Context(), address, ifNoneMatch); err != nil {
		return "", r, err
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	return string(all), r, err
}

func put(t *testing.T, c *files.Client, address, data string, want files.Condition) (string, error) {
	t.Helper()
	return c.Put(t.Context(), address, strings.NewReader(data), int64(len(data)), want)
}

func TestClient(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{}) + "/files/team/main.golden"
	c := files.NewClient(files.ClientOptions{})
	if _, _, err := got(t, c, at, ""); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), at) {
		t.Errorf("of nothing: %v", err)
	}
	for i, size := range []int{0, 1, 70_000, 1_000_000} { // with and without Expect
		data := string(enginetest.Content(i, size))
		tag, err := put(t, c, at, data, files.Condition{})
		if err != nil || tag == "" {
			t.Fatal(tag, err)
		}
		is, content, err := got(t, c, at, `"other"`)
		if err != nil || is != data || content.ETag != tag || content.Size != int64(size) {
			t.Errorf("%d bytes, %+v, %v", len(is), content, err)
		}
		if _, _, err := got(t, c, at, tag); !errors.Is(err, files.ErrNotModified) {
			t.Errorf("with its own tag: %v", err)
		}
	}
}

// A cache answers with its copy of a file without an age, as RFC 9111 allows. The client must
// make it revalidate.
func TestClientBehindACache(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{}) + "/files/x"
	kept := map[string]*http.Response{}
	c := client(files.ClientOptions{}, func(r *http.Request) (*http.Response, error) {
		if old := kept[r.Method]; old != nil && r.Header.Get("Cache-Control") != "no-cache" {
			return old, nil
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		again := func() *http.Response {
			copied := *answer
			copied.Body = io.NopCloser(bytes.NewReader(body))
			return &copied
		}
		if r.Method != http.MethodPut {
			kept[r.Method] = again()
		}
		return again(), err
	})
	for _, data := range []string{"old", "a newer one"} {
		tag, err := put(t, c, at, data, files.Condition{})
		if err != nil {
			t.Fatal(err)
		}
		if is, a, err := got(t, c, at, ""); err != nil || is != data || a.ETag != tag {
			t.Errorf("%q %v, %v; want %q", is, a, err, data)
		}
	}
}

func TestClientConditions(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{}) + "/files/x"
	c := files.NewClient(files.ClientOptions{})
	first, err := put(t, c, at, "first", files.Condition{IfNoneMatchAll: true})
	if err != nil {
		t.Fatal(err)
	}
	second, err := put(t, c, at, "second", files.Condition{IfMatch: first})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []files.Condition{{IfNoneMatchAll: true}, {IfMatch: first}, {IfMatch: second, IfNoneMatchAll: true}} {
		_, err := put(t, c, at, "third", want)
		var status *files.StatusError
		if !errors.Is(err, fileio.ErrChanged) || !errors.As(err, &status) || status.Status != 412 {
			t.Errorf("%+v: %v", want, err)
		}
	}
	if is, _, err := got(t, c, at, ""); is != "second" || err != nil {
		t.Errorf("%q, %v", is, err)
	}
}

func TestClientToken(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{Tokens: []string{"secret"}}) + "/files/x"
	for _, token := range []string{"", "other"} {
		_, err := put(t, files.NewClient(files.ClientOptions{Token: token}), at, strings.Repeat("x", 1<<20), files.Condition{})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "a token is wanted") {
			t.Errorf("token %q: %v", token, err)
		}
	}
	if _, err := put(t, files.NewClient(files.ClientOptions{Token: "secret"}), at, "x", files.Condition{}); err != nil {
		t.Error(err)
	}
}

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// client returns a client whose network is f.
func client(o files.ClientOptions, f transport) *files.Client {
	o.HTTPClient = &http.Client{Transport: f}
	return files.NewClient(o)
}

func response(status int, body string, headers ...string) *http.Response {
	w := httptest.NewRecorder()
	for i := 0; i+1 < len(headers); i += 2 {
		w.Header().Set(headers[i], headers[i+1])
	}
	w.WriteHeader(status)
	w.WriteString(body)
	return w.Result()
}

// A token goes only to the named server: not to the target of a redirect, and not in plain
// text over a network.
func TestTokenStays(t *testing.T) {
	var asked []string
	moved := func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.Host+" "+r.Header.Get("Authorization"))
		return response(307, "", "Location", "https://evil.example/x"), nil
	}
	_, _, err := got(t, client(files.ClientOptions{Token: "secret"}, moved), "https://good.example/files/x", "")
	if fmt.Sprint(asked) != "[good.example Bearer secret]" || err == nil || !strings.Contains(err.Error(), "307 Temporary Redirect: it has moved to https://evil.example/x") {
		t.Errorf("asked %q: %v", asked, err)
	}
	for at, sent := range map[string]bool{
		"http://10.1.2.3/files/x": false, "http://files.example:99/files/x": false, "http://localhost.example/files/x": false,
		"http://localhost:1/files/x": true, "http://127.0.0.1/files/x": true, "http://[::1]:8/files/x": true, "https://10.1.2.3/files/x": true,
	} {
		asked = nil
		_, _, err := got(t, client(files.ClientOptions{Token: "secret"}, moved), at, "")
		if (len(asked) > 0) != sent || errors.Is(err, files.ErrPlainToken) == sent {
			t.Errorf("%s: asked %q, %v", at, asked, err)
		}
		if _, _, err := got(t, client(files.ClientOptions{Token: "secret", PlainToken: true}, moved), at, ""); errors.Is(err, files.ErrPlainToken) {
			t.Error(err)
		}
		if _, _, err := got(t, client(files.ClientOptions{}, moved), at, ""); errors.Is(err, files.ErrPlainToken) {
			t.Error(err)
		}
	}
}

func TestRepeats(t *testing.T) {
	busy := func(after string) func() (*http.Response, error) {
		return func() (*http.Response, error) { return response(503, "too much to do\n", "Retry-After", after), nil }
	}
	fails := func(err error) func() (*http.Response, error) {
		return func() (*http.Response, error) { return nil, err }
	}
	for name, c := range map[string]struct {
		answer           func() (*http.Response, error) // until done
		get, plain, cond int                            // requests that are made for a Get, a Put, one with a condition
		least, most      time.Duration                  // between first and last of the Get
	}{
		"busy":                    {busy("2"), 4, 4, 4, 6 * time.Second, 9 * time.Second},
		"busy for too long":       {busy("31"), 1, 1, 1, 0, 0},
		"busy for no one knows":   {busy("soon"), 4, 4, 4, 1750 * time.Millisecond, 3 * time.Second},
		"nobody there":            {fails(syscall.ECONNREFUSED), 4, 4, 4, 1750 * time.Millisecond, 3 * time.Second},
		"a connection that broke": {fails(syscall.ECONNRESET), 4, 4, 1, 1750 * time.Millisecond, 3 * time.Second},
		"another failure":         {fails(errors.New("certificate")), 1, 1, 1, 0, 0},
		"a refusal":               {func() (*http.Response, error) { return response(400, "no"), nil }, 1, 1, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				cl := client(files.ClientOptions{}, func(r *http.Request) (*http.Response, error) {
					n++
					if r.Body != nil {
						if data, err := io.ReadAll(r.Body); string(data) != "all of it" || err != nil {
							t.Errorf("try %d sends %q, %v", n, data, err)
						}
					}
					return c.answer()
				})
				const at = "http://h/files/x"
				began := time.Now()
				_, _, err := got(t, cl, at, "")
				if took := time.Since(began); n != c.get || took < c.least || took > c.most || !strings.Contains(fmt.Sprint(err), at) {
					t.Errorf("get: %d requests in %v, %v", n, took, err)
				}
				n = 0
				if _, err := put(t, cl, at, "all of it", files.Condition{}); n != c.plain || err == nil {
					t.Errorf("put: %d requests, %v", n, err)
				}
				n = 0
				if _, err := put(t, cl, at, "all of it", files.Condition{IfNoneMatchAll: true}); n != c.cond || err == nil {
					t.Errorf("put with a condition: %d requests, %v", n, err)
				}
			})
		})
	}
}

// slowBytes returns a byte each minute. After the last one it blocks until its request ends.
type slowBytes struct {
	ctx  context.Context
	left int
}

func (s *slowBytes) Read(p []byte) (int, error) {
	if s.left == 0 {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	<-time.After(time.Minute)
	s.left--
	return copy(p, "x"), nil
}

func (s *slowBytes) Close() error { return nil }

// A body may take any time while it moves.
func TestStalled(t *testing.T) {
	const at = "http://h/files/x"
	synctest.Test(t, func(t *testing.T) {
		c := client(files.ClientOptions{}, func(r *http.Request) (*http.Response, error) {
			answer := response(200, "")
			answer.Body = &slowBytes{r.Context(), 10}
			return answer, nil
		})
		began := time.Now()
		r, err := c.Get(t.Context(), at, "")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		<-time.After(time.Hour) // the caller pauses
		began = began.Add(time.Hour)
		is, err := io.ReadAll(r)
		if took := time.Since(began); len(is) != 10 || !errors.Is(err, files.ErrStalled) || took != 12*time.Minute {
			t.Errorf("%d bytes after %v: %v", len(is), took, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		taken := 10
		c := client(files.ClientOptions{}, func(r *http.Request) (*http.Response, error) {
			for range taken {
				<-time.After(time.Minute)
				if _, err := r.Body.Read(make([]byte, 1)); err != nil {
					return nil, err
				}
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		began := time.Now()
		_, err := put(t, c, at, "what nobody reads to its end", files.Condition{IfNoneMatchAll: true})
		if took := time.Since(began); !errors.Is(err, files.ErrStalled) || errors.Is(err, context.Canceled) || took != 12*time.Minute || !strings.Contains(err.Error(), "PUT "+at) {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c := client(files.ClientOptions{}, func(*http.Request) (*http.Response, error) { return response(503, "", "Retry-After", "20"), nil })
		began := time.Now()
		_, err := c.Get(ctx, "http://h/files/x", "")
		if took := time.Since(began); took != time.Second || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, fileio.ErrBusy) {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// A busy server recovers after a while.
func TestBusyForOnce(t *testing.T) {
	var n atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) < 3 {
			w.WriteHeader(503) // before the body is read
			return
		}
		data, err := io.ReadAll(r.Body)
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(data)))
		if err != nil {
			w.WriteHeader(500)
		}
	}))
	defer server.Close()
	data := enginetest.Content(1, 300_000)
	tag, err := files.NewClient(files.ClientOptions{}).Put(t.Context(), server.URL, bytes.NewReader(data), int64(len(data)), files.Condition{IfMatch: `"x"`})
	if tag != `"300000"` || err != nil {
		t.Errorf("%s, %v", tag, err)
	}
}

// The client returns the server's content or an error.
func TestDamagedOnTheWay(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Repr-Digest", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:") // of hello
		body := strings.TrimPrefix(r.URL.Path, "/")
		if body == "cut" {
			w.Header().Set("Content-Length", "5")
		}
		io.WriteString(w, body)
	}))
	defer server.Close()
	c := files.NewClient(files.ClientOptions{})
	for body, ok := range map[string]bool{"hello": true, "hellO": false, "cut": false} {
		if is, _, err := got(t, c, server.URL+"/"+body, ""); (err == nil) != ok {
			t.Errorf("%q, %v", is, err)
		}
	}
}

// changing returns different bytes each time it is read.
type changing struct{ n byte }

func (c *changing) ReadAt(p []byte, _ int64) (int, error) {
	for i := range p {
		c.n++
		p[i] = c.n
	}
	return len(p), nil
}

// The server refuses a file that changes while it is sent.
func TestChangedMeanwhile(t *testing.T) {
	at := serve(t, &direct.Engine{}, files.Options{}) + "/files/x"
	c := files.NewClient(files.ClientOptions{})
	if _, err := c.Put(t.Context(), at, &changing{}, 1000, files.Condition{}); err == nil || !strings.Contains(err.Error(), "the body does not have the announced SHA-256") {
		t.Error(err)
	}
	if _, err := c.Put(t.Context(), at, strings.NewReader("short"), 1000, files.Condition{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if _, _, err := got(t, c, at, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Quoted text of a server cannot affect a terminal.
func TestWords(t *testing.T) {
	for said, want := range map[string]string{
		"":                           "GET http://h/x: 418 I'm a teapot",
		"no\nmore":                   "GET http://h/x: 418 I'm a teapot: no",
		"\x1b[31mred\a":              "GET http://h/x: 418 I'm a teapot: \uFFFD[31mred\uFFFD",
		strings.Repeat("long ", 100): "GET http://h/x: 418 I'm a teapot: " + strings.TrimSpace(strings.Repeat("long ", 40)),
	} {
		c := client(files.ClientOptions{}, func(*http.Request) (*http.Response, error) { return response(418, said), nil })
		if _, _, err := got(t, c, "http://h/x", ""); err == nil || err.Error() != want {
			t.Errorf("%q: %v", said, err)
		}
	}
}
