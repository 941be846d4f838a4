package web

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"path"
	"strings"

	"muster/internal/style"
	"muster/internal/wording"
	"muster/regress"
)

// The page loads everything from here, runs no script but its own file, and cannot be framed.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guarded refuses requests that were sent to another name, or by another page. Another page can make
// its own name lead here (DNS rebinding).
func guarded(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", contentPolicy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Cache-Control", "no-store")
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // the host has no port
			host = r.Host
		}
		switch {
		case !isLoopback(host):
			fail(w, refusal{http.StatusMisdirectedRequest, "this review does not know the name " + r.Host + ": take the link as muster printed it"})
			return
		case r.Method != http.MethodGet && r.Header.Get("Origin") != "http://"+r.Host:
			fail(w, refusal{http.StatusForbidden, "this request was not sent by the page of the review"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, bodyBytesMax)
		inner.ServeHTTP(w, r)
	})
}

// Bounds of requests: decisions are short, and a filter is typed.
const bodyBytesMax = 64 << 10

// Headers of a request. The key stays with the page's origin, while a browser would send a cookie to
// every server on this machine. The page header has the ID of a tab.
const (
	keyHeader  = "Muster-Key"
	pageHeader = "Muster-Page"
)

// A visit is a request of a page.
type visit struct {
	ctx           context.Context
	page, browser string
}

// post answers the requests of pages that have the key. do gets the decoded body.
func post[Ask any](s *server, do func(visit, Ask) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !isSecret(r.Header.Get(keyHeader), s.key) {
			fail(w, refusal{http.StatusUnauthorized, "this browser takes no part in the review: open it by a link that nobody has used"})
			return
		}
		ask, err := decode[Ask](r)
		if err != nil {
			fail(w, err)
			return
		}
		got, err := do(visit{r.Context(), r.Header.Get(pageHeader), nameBrowser(r.UserAgent())}, ask)
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, got)
	}
}

// nameBrowser names a browser and its system, for people who wonder which one of theirs it is.
func nameBrowser(agent string) string {
	find := func(fallback string, names ...string) string {
		for _, name := range names {
			if strings.Contains(agent, name) {
				return name
			}
		}
		return fallback
	}
	return find("a browser", "Firefox", "Edg", "Chrome", "Safari") + " on " + find("another system", "Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux")
}

// session exchanges the token of a link for the key. A browser that has the key does not use up the
// link, so that it stays valid for another browser.
func (s *server) session(w http.ResponseWriter, r *http.Request) {
	ask, err := decode[struct{ Token string }](r)
	switch {
	case err != nil:
		fail(w, err)
	case isSecret(r.Header.Get(keyHeader), s.key) || s.spend(ask.Token):
		answer(w, map[string]string{"key": s.key})
	default:
		fail(w, refusal{http.StatusForbidden, "this link was used already, or is of another review. A browser that takes part makes a new one with Link…; or start muster review --web again"})
	}
}

// decode reads a request's body. A form of another page cannot send JSON.
func decode[Ask any](r *http.Request) (ask Ask, err error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return ask, refusal{http.StatusUnsupportedMediaType, "JSON is expected"}
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&ask); err != nil {
		return ask, refusal{http.StatusBadRequest, "what was sent cannot be read: " + err.Error()}
	}
	return ask, nil
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// the client is gone if it does not take the answer
	_ = json.NewEncoder(w).Encode(v)
}

// A refusal is an error with the status of its answer.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

// fail answers with a refusal, or with an error of the review itself.
func fail(w http.ResponseWriter, err error) {
	status, text := http.StatusInternalServerError, wording.Of(err)
	var refused refusal
	switch {
	case errors.As(err, &refused):
		status, text = refused.status, refused.text
	case regress.ClassOf(err) == regress.Input:
		status = http.StatusConflict
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
}

//go:embed page
var pages embed.FS

//go:embed page/page.css
var pageStyle string

func (s *server) handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", file("index.html", "text/html; charset=utf-8"))
	for _, name := range []string{"page.js", "list.js", "difference.js", "dialogs.js", "server.js", "words.js"} {
		m.HandleFunc("GET /"+name, file(name, "text/javascript; charset=utf-8"))
	}
	m.HandleFunc("GET /icon.svg", file("icon.svg", "image/svg+xml"))
	m.HandleFunc("GET /page.css", styleSheet)
	m.HandleFunc("POST /session", s.session)
	m.HandleFunc("POST /take", post(s, s.take))
	m.HandleFunc("POST /link", post(s, s.link))
	m.HandleFunc("POST /review", post(s, s.review))
	m.HandleFunc("POST /state", post(s, s.now))
	m.HandleFunc("POST /filter", post(s, s.filter))
	m.HandleFunc("POST /cases", post(s, s.cases))
	m.HandleFunc("POST /difference", post(s, s.difference))
	m.HandleFunc("POST /plan", post(s, s.plan))
	m.HandleFunc("POST /act", post(s, s.act))
	m.HandleFunc("POST /commit", post(s, s.commit))
	m.HandleFunc("POST /finish", post(s, s.leave))
	return guarded(m)
}

// file serves one of the page's static files, which hold no secrets.
func file(name, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		http.ServeFileFS(w, r, pages, path.Join("page", name))
	}
}

// styleSheet serves the shared style, followed by the page's own.
func styleSheet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = io.WriteString(w, style.CSS()+style.Pictures()+pageStyle)
}
