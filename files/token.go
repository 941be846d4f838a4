package files

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// access decides who may use a server: whoever brings its token.
type access struct {
	open    bool // to everybody
	token   [sha256.Size]byte
	origins *http.CrossOriginProtection
}

func newAccess(token string) *access {
	return &access{open: token == "", token: sha256.Sum256([]byte(token)), origins: http.NewCrossOriginProtection()}
}

// refuse returns why a request is not answered; "" = it is. A token is either a bearer token
// (RFC 6750) or the password of basic authentication (RFC 7617), which some clients alone
// can send. Browsers send a password again for any page that asks them to, and readers of
// the network see it: so it counts where the network is not open, and for pages of this
// server.
func (a *access) refuse(r *http.Request) string {
	const wanted = "a token is wanted: Authorization: Bearer TOKEN"
	if a.open {
		return ""
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	_, password, basic := r.BasicAuth()
	switch {
	case basic && !private(r):
		return "a password is for TLS and for this machine alone: use https, or Authorization: Bearer TOKEN"
	case basic && a.origins.Check(r) != nil:
		return "a page of another server has asked for this, and a password does not speak for it"
	case basic:
		token = password
	case !strings.EqualFold(scheme, "Bearer"):
		return wanted
	}
	// The time that this takes tells nothing of the token.
	if sum := sha256.Sum256([]byte(token)); subtle.ConstantTimeCompare(sum[:], a.token[:]) != 1 {
		return wanted
	}
	return ""
}

// challenges are the ways in which a request may bring a token.
func challenges(r *http.Request) []string {
	list := []string{`Bearer realm="muster"`}
	if private(r) {
		list = append(list, `Basic realm="muster", charset="UTF-8"`)
	}
	return list
}

// private reports whether nobody on the network reads a request: it came over TLS, or from
// this machine.
func private(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback()
}
