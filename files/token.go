package files

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// access decides which requests a server answers: those that bring one of its tokens, or all
// if it has none.
type access struct {
	tokens  [][sha256.Size]byte
	origins *http.CrossOriginProtection
}

func newAccess(tokens []string) *access {
	a := &access{origins: http.NewCrossOriginProtection()}
	for _, t := range tokens {
		a.tokens = append(a.tokens, sha256.Sum256([]byte(t)))
	}
	return a
}

// admit returns whose share a request takes from, and why it is refused; "" = it is answered.
// The share is that of the token that the request brings.
//
// A token is either a bearer token (RFC 6750) or the password of basic authentication (RFC
// 7617). Some clients can send only a password. Browsers send a password again for any page
// that asks them to, and readers of the network see it: so it counts where the network is not
// open, and for pages of this server.
func (a *access) admit(r *http.Request) (whose, refusal string) {
	const wanted = "a token is wanted: Authorization: Bearer TOKEN"
	if len(a.tokens) == 0 {
		return "", ""
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	_, password, basic := r.BasicAuth()
	switch {
	case basic && !private(r):
		return "", "a password is for TLS and for this machine alone: use https, or Authorization: Bearer TOKEN"
	case basic && a.origins.Check(r) != nil:
		return "", "a page of another server has asked for this, and a password does not speak for it"
	case basic:
		token = password
	case !strings.EqualFold(scheme, "Bearer"):
		return "", wanted
	}
	sum, found := sha256.Sum256([]byte(token)), -1
	for i := range a.tokens { // to the end, so that the time reveals nothing about the tokens
		if subtle.ConstantTimeCompare(sum[:], a.tokens[i][:]) == 1 {
			found = i
		}
	}
	switch {
	case found < 0:
		return "", wanted
	case len(a.tokens) == 1: // all clients bring it, so it needs no share
		return "", ""
	}
	return strconv.Itoa(found), ""
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
