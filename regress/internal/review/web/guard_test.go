package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"muster/regress"
	"muster/regress/internal/review"
	"muster/regress/internal/review/web"
)

// A caller sends requests as a browser's page does, and others as it does not.
type caller struct {
	*testing.T
	origin, key, page string
}

// call is a caller, and the token of the link.
func (v *served) call(page string) (c *caller, token string) {
	origin, token, _ := strings.Cut(v.link, "/#")
	return &caller{v.T, origin, "", page}, token
}

// ask returns the status and the body; change may spoil the request.
func (c *caller) ask(method, path, body string, change ...func(*http.Request)) (status int, text string) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.origin+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Muster-Key", c.key)
	r.Header.Set("Muster-Page", c.page)
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0")
	if method == http.MethodPost {
		r.Header.Set("Origin", c.origin)
		r.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		c.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

// does sends a request that must have a status, and returns the answer.
func (c *caller) does(want int, path, body string) (answer struct {
	Key, Link, Error string
	Revision         int
	State            struct{ Revision int }
	Written          bool
}) {
	c.Helper()
	status, text := c.ask(http.MethodPost, path, body)
	if err := json.Unmarshal([]byte(text), &answer); status != want || err != nil {
		c.Errorf("%s: %d %s, want %d", path, status, text, want)
	}
	return answer
}

// enter makes c a page of the review, and the one that decides if there is none.
func (c *caller) enter(token string) {
	c.Helper()
	c.key = c.does(http.StatusOK, "/session", `{"token": "`+token+`"}`).Key
	c.does(http.StatusOK, "/take", `{}`)
}

const acceptG1 = `{"do": "accept", "item": "G1"}`

func TestLinkOpensOnce(t *testing.T) {
	v := serve(t, few())
	c, token := v.call("1")
	c.does(http.StatusUnauthorized, "/review", "{}")
	c.does(http.StatusForbidden, "/session", `{"token": "guess"}`)
	c.does(http.StatusForbidden, "/session", `{"token": ""}`)
	c.enter(token)
	second, _ := v.call("2")
	if said := second.does(http.StatusForbidden, "/session", `{"token": "`+token+`"}`).Error; !strings.Contains(said, "used already") {
		t.Error(said)
	}
	second.does(http.StatusUnauthorized, "/review", "{}")
	void, _ := strings.CutPrefix(c.does(http.StatusOK, "/link", "{}").Link, c.origin+"/#")
	token, _ = strings.CutPrefix(c.does(http.StatusOK, "/link", "{}").Link, c.origin+"/#")
	c.does(http.StatusOK, "/session", `{"token": "`+token+`"}`) // it takes part already, and leaves the link to others
	second.does(http.StatusForbidden, "/session", `{"token": "`+void+`"}`)
	second.enter(token)
	if status, body := second.ask(http.MethodPost, "/review", "{}"); status != http.StatusOK || !strings.Contains(body, `"G5"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	v := serve(t, few())
	c, token := v.call("1")
	c.enter(token)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) {
		return func(r *http.Request) {
			r.Host = name
			r.Header.Set("Origin", "http://"+name)
		}
	}
	asIs := func(*http.Request) {}
	for _, test := range []struct {
		why, path, body string
		change          func(*http.Request)
		want            int
	}{
		{"a name that leads here", "/review", "{}", host("rebound.example:80"), http.StatusMisdirectedRequest},
		{"an address of others", "/review", "{}", host("192.0.2.1"), http.StatusMisdirectedRequest},
		{"another page", "/act", acceptG1, header("Origin", "http://evil.example"), http.StatusForbidden},
		{"another server here", "/act", acceptG1, header("Origin", "http://127.0.0.1:1"), http.StatusForbidden},
		{"a page that hides", "/act", acceptG1, header("Origin", "null"), http.StatusForbidden},
		{"no page", "/act", acceptG1, func(r *http.Request) { r.Header.Del("Origin") }, http.StatusForbidden},
		{"a form", "/act", acceptG1, header("Content-Type", "text/plain"), http.StatusUnsupportedMediaType},
		{"no key", "/act", acceptG1, header("Muster-Key", ""), http.StatusUnauthorized},
		{"too much", "/act", strings.Repeat(" ", 1<<17) + acceptG1, asIs, http.StatusBadRequest},
		{"unknown fields", "/act", `{"do": "accept", "more": 1}`, asIs, http.StatusBadRequest},
		{"an unknown action", "/act", `{"do": "explode"}`, asIs, http.StatusBadRequest},
		{"an unknown cause", "/difference", `{"item": "G99"}`, asIs, http.StatusNotFound},
		{"an unknown case", "/difference", `{"item": "G1", "place": -1}`, asIs, http.StatusNotFound},
		{"an unknown list", "/cases", `{}`, asIs, http.StatusNotFound},
		{"an old plan", "/commit", `{"revision": 99}`, asIs, http.StatusConflict},
		{"through a tunnel", "/state", "{}", host("localhost:8080"), http.StatusOK},
	} {
		if status, body := c.ask(http.MethodPost, test.path, test.body, test.change); status != test.want {
			t.Errorf("%s: %d %s", test.why, status, body)
		}
	}
	if status, _ := c.ask(http.MethodGet, "/", "", host("rebound.example")); status != http.StatusMisdirectedRequest {
		t.Errorf("the page by another name: %d", status)
	}
	if _, body := c.ask(http.MethodPost, "/state", "{}"); !strings.Contains(body, `"uuuuu"`) {
		t.Errorf("somebody decided: %s", body)
	}
}

// An address that other machines reach is refused.
func TestAddresses(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "nowhere", "review.example:0", "192.0.2.1:0", "127.0.0.1:x"} {
		ctx, stop := context.WithCancel(t.Context())
		_, err := web.Run(ctx, few().desk(), web.Options{Addr: addr, Ready: func(link string) {
			t.Errorf("%s was opened: %s", addr, link)
			stop()
		}})
		stop()
		if regress.ClassOf(err) != regress.Input {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// One page decides. After a take over the earlier one reads, whatever it had in hand, and nothing that it
// decided is lost.
func TestTakeOver(t *testing.T) {
	s := few()
	v := serve(t, s)
	first, token := v.call("1")
	first.enter(token)
	first.does(http.StatusOK, "/act", acceptG1)
	plan := first.does(http.StatusOK, "/plan", "{}")
	second := *first // another tab
	second.page = "2"
	second.does(http.StatusOK, "/take", "{}") // it asks, and does not take over
	if said := second.does(http.StatusLocked, "/act", acceptG1).Error; !strings.Contains(said, "Firefox on Linux took this review over at ") {
		t.Error(said)
	}
	second.does(http.StatusOK, "/take", `{"over": true}`)
	for path, body := range map[string]string{
		"/act": `{"do": "reject", "item": "G1"}`, "/plan": "{}", "/commit": `{"revision": 1}`, "/finish": `{"lose": true}`,
	} {
		first.does(http.StatusLocked, path, body)
	}
	for _, path := range []string{"/review", "/state", "/filter"} { // it reads on
		first.does(http.StatusOK, path, "{}")
	}
	nobody := *first
	nobody.page = ""
	nobody.does(http.StatusLocked, "/act", acceptG1)
	second.does(http.StatusOK, "/act", `{"do": "reject", "item": "G2"}`)
	second.does(http.StatusConflict, "/commit", `{"revision": 1}`)
	if plan = second.does(http.StatusOK, "/plan", "{}"); !second.does(http.StatusOK, "/commit", `{"revision": `+number(plan.State.Revision)+`}`).Written {
		t.Error("not written")
	}
	if got := s.decided(); got["G1"] != review.Accepted || got["G2"] != review.Rejected {
		t.Errorf("written: %v", got)
	}
	second.does(http.StatusOK, "/finish", "{}")
	<-v.done
	if v.err != nil || len(v.results) != 1 {
		t.Errorf("%+v, %v", v.results, v.err)
	}
}

func number(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// Pages that take over and decide at once: each decision that was answered is kept, and no other.
func TestTakeOverRaces(t *testing.T) {
	s := few()
	v := serve(t, s)
	first, token := v.call("0")
	first.enter(token)
	var pages sync.WaitGroup
	var mu sync.Mutex
	want := 0
	for n := range 4 {
		c := *first
		c.page = number(n)
		pages.Go(func() {
			for range 20 {
				c.ask(http.MethodPost, "/take", `{"over": true}`)
				if status, body := c.ask(http.MethodPost, "/act", `{"do": "skip", "item": "G1"}`); status == http.StatusOK {
					mu.Lock()
					want++
					mu.Unlock()
				} else if status != http.StatusLocked {
					t.Errorf("%d %s", status, body)
				}
			}
		})
	}
	pages.Wait()
	if _, body := first.ask(http.MethodPost, "/state", "{}"); !strings.Contains(body, `"undoable":`+number(want)+",") {
		t.Errorf("%d decisions were made: %s", want, body)
	}
}

// A take over waits for a commit. What others wrote meanwhile is not written over unseen.
func TestCommitIsWhole(t *testing.T) {
	s := few()
	v := serve(t, s)
	first, token := v.call("1")
	first.enter(token)
	second := *first
	second.page = "2"
	first.does(http.StatusOK, "/act", acceptG1)
	revision := `{"revision": ` + number(first.does(http.StatusOK, "/plan", "{}").State.Revision) + `}`
	var over sync.WaitGroup
	s.writing = func() {
		s.decisions["G1"] = review.Rejected // somebody in a terminal was faster
		over.Go(func() { second.does(http.StatusOK, "/take", `{"over": true}`) })
	}
	if first.does(http.StatusOK, "/commit", revision).Written {
		t.Error("written over a decision that nobody has seen")
	}
	over.Wait()
	s.writing = nil
	if got := s.decided(); got["G1"] != review.Rejected {
		t.Errorf("written: %v", got)
	}
	first.does(http.StatusLocked, "/act", acceptG1)
	status, body := second.ask(http.MethodPost, "/plan", "{}")
	if status != http.StatusOK || !strings.Contains(body, `"now":"accepted","was":"rejected"`) {
		t.Errorf("%d %s", status, body)
	}
}

// An interrupt ends the review, and waits for no client that hangs in the middle of a request.
func TestInterrupt(t *testing.T) {
	v := serve(t, few())
	c, token := v.call("1")
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
	c.does(http.StatusOK, "/state", "{}") // the server has them all by now
	v.stop()
	<-v.done
	if !errors.Is(v.err, context.Canceled) || regress.ClassOf(v.err) != regress.Interrupted {
		t.Errorf("%v", v.err)
	}
}
