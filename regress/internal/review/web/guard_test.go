package web_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/review/web"
)

// A caller sends requests as a browser's page does, and others as it does not.
type caller struct {
	*testing.T
	origin string
	key    string
	cookie *http.Cookie
	client *http.Client
}

// call is a caller, and the token of the link.
func (v *served) call() (c *caller, token string) {
	v.Helper()
	origin, token, _ := strings.Cut(v.link, "/#")
	return &caller{T: v.T, origin: origin, client: &http.Client{}}, token
}

// ask returns the status and the body; change may spoil the request.
func (c *caller) ask(method, path, body string, change ...func(*http.Request)) (status int, text string, header http.Header) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.origin+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Muster-Key", c.key)
	if c.cookie != nil {
		r.AddCookie(c.cookie)
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", c.origin)
		r.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(r)
	}
	answer, err := c.client.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		c.Fatal(err)
	}
	return answer.StatusCode, string(b), answer.Header
}

func (c *caller) enter(token string) {
	c.Helper()
	status, body, header := c.ask(http.MethodPost, "/session", `{"token": "`+token+`"}`)
	var got struct{ Key string }
	c.cookie, _ = http.ParseSetCookie(header.Get("Set-Cookie"))
	if err := json.Unmarshal([]byte(body), &got); status != http.StatusOK || err != nil {
		c.Fatalf("%d %s", status, body)
	}
	c.key = got.Key
}

func TestLinkOpensOnce(t *testing.T) {
	v := serve(t, few())
	c, token := v.call()
	if status, _, _ := c.ask(http.MethodGet, "/review", ""); status != http.StatusUnauthorized {
		t.Errorf("without a seat: %d", status)
	}
	c.enter(token)
	status, body, header := c.ask(http.MethodGet, "/review", "")
	if status != http.StatusOK || !strings.Contains(body, `"G5"`) {
		t.Errorf("%d %s", status, body)
	}
	if header.Get("Cache-Control") != "no-store" || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'") {
		t.Errorf("%v", header)
	}
	second, _ := v.call()
	if status, body, _ := second.ask(http.MethodPost, "/session", `{"token": "`+token+`"}`); status != http.StatusForbidden || !strings.Contains(body, "used already") {
		t.Errorf("used twice: %d %s", status, body)
	}
	if status, _, _ := second.ask(http.MethodPost, "/session", `{"token": "guess"}`); status != http.StatusForbidden {
		t.Errorf("guessed: %d", status)
	}
	_, body, _ = c.ask(http.MethodPost, "/link", "{}")
	_, token, _ = strings.Cut(strings.TrimSuffix(strings.TrimSpace(body), `"}`), "/#")
	second.enter(token)
	if second.key == c.key {
		t.Error("two reviewers have the same key")
	}
}

// A browser that opens the link it made for another stays the reviewer that it is, and the
// link stays good.
func TestBrowserKeepsItsSeat(t *testing.T) {
	v := serve(t, few())
	c, token := v.call()
	c.enter(token)
	c.ask(http.MethodPost, "/act", `{"do": "accept", "item": "G1"}`)
	_, body, _ := c.ask(http.MethodPost, "/link", "{}")
	_, token, _ = strings.Cut(strings.TrimSuffix(strings.TrimSpace(body), `"}`), "/#")
	status, body, header := c.ask(http.MethodPost, "/session", `{"token": "`+token+`"}`)
	if status != http.StatusOK || !strings.Contains(body, c.key) || header.Get("Set-Cookie") != "" {
		t.Errorf("%d %s, %v", status, body, header)
	}
	if status, body, _ := c.ask(http.MethodGet, "/state", ""); status != http.StatusOK || !strings.Contains(body, `"pending":1`) {
		t.Errorf("%d %s", status, body)
	}
	other, _ := v.call()
	other.enter(token)
}

// The cookie alone, which any server of this machine can read, opens nothing.
func TestCookieIsNotEnough(t *testing.T) {
	v := serve(t, few())
	c, token := v.call()
	_, _, header := c.ask(http.MethodPost, "/session", `{"token": "`+token+`"}`)
	cookie, err := http.ParseSetCookie(header.Get("Set-Cookie"))
	if err != nil || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode {
		t.Errorf("%v, %v", cookie, err)
	}
	c.cookie = cookie
	if status, _, _ := c.ask(http.MethodGet, "/review", ""); status != http.StatusUnauthorized {
		t.Errorf("with a cookie and no key: %d", status)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	s := few()
	v := serve(t, s)
	c, token := v.call()
	c.enter(token)
	act := `{"do": "accept", "item": "G1", "place": 0, "filter": ""}`
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for _, test := range []struct {
		why, method, path, body string
		change                  func(*http.Request)
		want                    int
	}{
		{"a name that leads here", http.MethodGet, "/", "", host("rebound.example"), http.StatusMisdirectedRequest},
		{"the same with a seat", http.MethodGet, "/review", "", host("rebound.example:80"), http.StatusMisdirectedRequest},
		{"an address of others", http.MethodGet, "/review", "", host("192.0.2.1"), http.StatusMisdirectedRequest},
		{"another page", http.MethodPost, "/act", act, header("Origin", "http://evil.example"), http.StatusForbidden},
		{"another server here", http.MethodPost, "/act", act, header("Origin", "http://127.0.0.1:1"), http.StatusForbidden},
		{"a page that hides", http.MethodPost, "/act", act, header("Origin", "null"), http.StatusForbidden},
		{"no page", http.MethodPost, "/act", act, func(r *http.Request) { r.Header.Del("Origin") }, http.StatusForbidden},
		{"a form", http.MethodPost, "/act", act, header("Content-Type", "text/plain"), http.StatusUnsupportedMediaType},
		{"no key", http.MethodPost, "/act", act, header("Muster-Key", ""), http.StatusUnauthorized},
		{"too much", http.MethodPost, "/act", strings.Repeat(" ", 1<<17) + act, header("X", "y"), http.StatusBadRequest},
		{"unknown fields", http.MethodPost, "/act", `{"do": "accept", "more": 1}`, header("X", "y"), http.StatusBadRequest},
		{"an unknown action", http.MethodPost, "/act", `{"do": "explode"}`, header("X", "y"), http.StatusBadRequest},
		{"an unknown cause", http.MethodGet, "/difference?item=G99", "", header("X", "y"), http.StatusNotFound},
		{"an unknown case", http.MethodGet, "/difference?item=G1&place=-1", "", header("X", "y"), http.StatusNotFound},
		{"an unknown list", http.MethodGet, "/cases?item=", "", header("X", "y"), http.StatusNotFound},
		{"another file", http.MethodGet, "/../web.go", "", header("X", "y"), http.StatusNotFound},
		{"an old plan", http.MethodPost, "/commit", `{"revision": 99}`, header("X", "y"), http.StatusConflict},
	} {
		if status, body, _ := c.ask(test.method, test.path, test.body, test.change); status != test.want {
			t.Errorf("%s: %d %s", test.why, status, body)
		}
	}
	if status, _, _ := c.ask(http.MethodGet, "/review", "", host(strings.Replace(strings.TrimPrefix(c.origin, "http://"), "127.0.0.1", "localhost", 1))); status != http.StatusOK {
		t.Errorf("through a tunnel: %d", status)
	}
	if status, body, _ := c.ask(http.MethodGet, "/state", ""); status != http.StatusOK || !strings.Contains(body, `"uuuuu"`) {
		t.Errorf("somebody decided: %d %s", status, body)
	}
}

func TestSeatsAreBounded(t *testing.T) {
	v := serve(t, few())
	first, token := v.call()
	first.enter(token)
	for n := range 10 {
		_, body, _ := first.ask(http.MethodPost, "/link", "{}")
		_, token, _ = strings.Cut(strings.TrimSuffix(strings.TrimSpace(body), `"}`), "/#")
		c, _ := v.call()
		status, body, _ := c.ask(http.MethodPost, "/session", `{"token": "`+token+`"}`)
		if want := n < 7; (status == http.StatusOK) != want {
			t.Errorf("reviewer %d: %d %s", n+2, status, body)
		}
	}
}

// An address that others reach is refused, unless they cannot read along or somebody says
// that they may.
func TestAddresses(t *testing.T) {
	cert, _ := certificate(t)
	for _, o := range []web.Options{
		{Addr: "0.0.0.0:0"}, {Addr: ":0"}, {Addr: "[::]:0"}, {Addr: "nowhere"}, {Addr: "review.example:0"}, {Addr: "127.0.0.1:x"},
		{Addr: "127.0.0.1:0", Certificate: cert}, {Addr: "0.0.0.0:0", Certificate: cert, Key: cert},
	} {
		o.Open = few().open
		o.Ready = func(link string) { t.Errorf("%s was opened: %s", o.Addr, link) }
		if _, err := web.Run(t.Context(), o); regress.ClassOf(err) != regress.Input {
			t.Errorf("%s: %v", o.Addr, err)
		}
	}
	v := serve(t, few(), func(o *web.Options) { o.Addr, o.InTheClear = "0.0.0.0:0", true })
	c, token := v.call()
	c.enter(token)
	if status, _, _ := c.ask(http.MethodGet, "/review", "", func(r *http.Request) { r.Host = strings.Replace(r.Host, "127.0.0.1", "192.0.2.7", 1) }); status != http.StatusOK {
		t.Errorf("by an address: %d", status)
	}
	if status, _, _ := c.ask(http.MethodGet, "/review", "", func(r *http.Request) { r.Host = "evil.example" }); status != http.StatusMisdirectedRequest {
		t.Errorf("by a name: %d", status)
	}
}

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	v := serve(t, few(), func(o *web.Options) { o.Addr, o.Certificate, o.Key = "0.0.0.0:0", cert, key })
	c, token := v.call()
	if !strings.HasPrefix(c.origin, "https://review.test:") {
		t.Fatal(v.link)
	}
	c.origin = strings.Replace(c.origin, "review.test", "localhost", 1)
	c.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	c.enter(token)
	if status, body, _ := c.ask(http.MethodGet, "/review", ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	c.client.CloseIdleConnections()
}

// certificate makes one for review.test.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"review.test"}, NotAfter: time.Now().Add(time.Hour)}
	public, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// Where nobody looks any more the review ends by itself, and says what was lost.
func TestIdle(t *testing.T) {
	v := serve(t, few(), func(o *web.Options) { o.Idle, o.Every = time.Nanosecond, time.Millisecond })
	<-v.done
	if v.err != nil || !v.outcome.Idle {
		t.Errorf("%+v, %v", v.outcome, v.err)
	}
}

func TestInterrupt(t *testing.T) {
	v := serve(t, few())
	c, token := v.call()
	c.enter(token)
	for range 2 {
		if status, body, _ := c.ask(http.MethodPost, "/act", `{"do": "accept", "item": "G4", "place": 0, "filter": ""}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
	v.stop()
	<-v.done
	if !errors.Is(v.err, context.Canceled) || strings.Join(v.outcome.Unsaved, " ") != "G4" {
		t.Errorf("%+v, %v", v.outcome, v.err)
	}
}

// Clients that hang in the middle of a request are not waited for at the end.
func TestHangingClients(t *testing.T) {
	v := serve(t, few())
	c, token := v.call()
	c.enter(token)
	for _, text := range []string{"", "GET / HT", "POST /session HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"} {
		hung, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", hostOf(v.link))
		if err != nil {
			t.Fatal(err)
		}
		defer hung.Close()
		if _, err := hung.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	c.ask(http.MethodGet, "/state", "") // the server has them all by now
	v.stop()
	<-v.done
	if !errors.Is(v.err, context.Canceled) || regress.ClassOf(v.err) != regress.Interrupted {
		t.Errorf("%v", v.err)
	}
}

// A text in a known language has tokens. A text that is too large has none, and is shown all the same; so is
// one that a lexer would need very long for.
func TestColoursAreBounded(t *testing.T) {
	s := few()
	v := serve(t, s)
	c, token := v.call()
	c.enter(token)
	first := &s.parts[s.cases[0].Name][0]
	small := *first
	for _, one := range []struct {
		title, name, text string
		coloured          bool
	}{
		{"C", "stdout", "", true},
		{"no language", "out.unknown", "", false},
		{"large", "stdout", strings.Repeat("int a;\n", 50_000), false},
		{"a long line", "stdout", strings.Repeat("int a; ", 5_000), false},
		{"not UTF-8", "stdout", "int \xff;\n", false},
		{"hostile", "x.md", strings.Repeat("[[[[((((**__", 300) + "\n", false},
	} {
		*first = small
		first.Name = one.name
		if one.text != "" {
			first.Old, first.Now, first.Edits = []byte(one.text), []byte("12LL\n"+one.text), nil
		}
		status, body, _ := c.ask(http.MethodGet, "/difference?item=G1&place=0", "")
		if status != http.StatusOK || !strings.Contains(body, "12LL") {
			t.Errorf("%s: %d %s", one.title, status, body)
		}
		if got := strings.Contains(body, `"kind":"keyword"`); got != one.coloured {
			t.Errorf("%s: coloured %v, not %v", one.title, got, one.coloured)
		}
	}
}
