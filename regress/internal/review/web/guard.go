package web

import (
	"encoding/json"
	"errors"
	"mime"
	"net"
	"net/http"
	"slices"
	"time"

	"muster/internal/wording"
	"muster/regress"
)

// The page loads everything from here, runs no script but its own file, and cannot be framed.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guarded refuses requests that were sent to another name, or by another page.
func (h *house) guarded(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", contentPolicy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Cache-Control", "no-store")
		switch {
		case !h.reach.knows(r.Host):
			refuse(w, http.StatusMisdirectedRequest, "this review does not know the name "+r.Host+": take the link as muster printed it")
			return
		case r.Method != http.MethodGet && r.Header.Get("Origin") != h.reach.scheme()+r.Host:
			refuse(w, http.StatusForbidden, "this request was not sent by the page of the review")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, bodyBytesMax)
		inner.ServeHTTP(w, r)
	})
}

// Bounds of requests: decisions are short, and a filter is typed.
const bodyBytesMax = 64 << 10

// cookieName returns a name with the port, because browsers share cookies among all ports of a
// machine.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "0"
	}
	return "muster-review-" + port
}

// keyHeader carries the second secret. The browser sends a cookie to every server on this
// machine, but the key stays with the page's origin.
const keyHeader = "Muster-Key"

// seated adds the seat to the requests of reviewers.
func (h *house) seated(inner func(http.ResponseWriter, *http.Request, *seat)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s, known := h.seatFor(r); known {
			inner(w, r, s)
			return
		}
		refuse(w, http.StatusUnauthorized, "this browser takes no part in the review: open it by a link that nobody has used")
	}
}

// seatFor returns the seat of the browser that sent a request: its cookie and its key tell.
func (h *house) seatFor(r *http.Request) (*seat, bool) {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return nil, false
	}
	c, k := digestOf(cookie.Value), digestOf(r.Header.Get(keyHeader))
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.seats, func(s *seat) bool { return s.cookie == c && s.key == k })
	if i < 0 {
		return nil, false
	}
	return h.seats[i], true
}

// session exchanges a link's token for a seat. A browser that has a seat keeps it, and the link
// stays valid for another browser: a second seat would replace the cookie of the first, whose
// decisions could not be written any more.
func (h *house) session(w http.ResponseWriter, r *http.Request) {
	var ask struct{ Token string }
	if !decode(w, r, &ask) {
		return
	}
	if _, known := h.seatFor(r); known {
		answer(w, map[string]string{"key": r.Header.Get(keyHeader)})
		return
	}
	s, err := h.enter(r.Context(), ask.Token)
	if errors.Is(err, errSpent) || errors.Is(err, errUnknown) {
		refuse(w, http.StatusForbidden, wording.Of(err))
		return
	}
	if err != nil {
		fail(w, err)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: s.secrets.cookie, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: h.reach.config != nil,
	})
	answer(w, map[string]string{"key": s.secrets.key})
	s.secrets.cookie, s.secrets.key = "", ""
}

// decode reads a request's body, and answers the request if the body is invalid. A form of
// another page cannot send JSON.
func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "JSON is expected")
		return false
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, "what was sent cannot be read: "+err.Error())
		return false
	}
	return true
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// the client is gone if it does not take the answer
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why})
}

// fail answers with an error of the review itself.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if regress.ClassOf(err) == regress.Input {
		status = http.StatusConflict
	}
	refuse(w, status, wording.Of(err))
}

// unlimited lifts the time limit of a request that writes or streams.
func unlimited(w http.ResponseWriter) error {
	c := http.NewResponseController(w)
	return errors.Join(c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(time.Time{}))
}
