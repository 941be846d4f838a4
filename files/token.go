package files

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// access decides which requests a server answers: those with one of its tokens, or all if it
// has no token.
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

// admit returns whose share a request uses, and why it is refused; "" = it is admitted. The
// share belongs to the request's token.
//
// A token is either a bearer token (RFC 6750) or the password of basic authentication (RFC
// 7617). Some clients can send only a password. Browsers resend a password for any page that
// asks them to, and others on the network can read it. So a password is accepted only over TLS
// or from this machine, and only for this server's pages.
func (a *access) admit(r *http.Request) (whose, refusal string) {
	const wanted = "a token is wanted: Authorization: Bearer TOKEN"
	if len(a.tokens) == 0 {
		return "", ""
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	_, password, basic := r.BasicAuth()
	switch {
	case basic && !isPrivate(r):
		return "", "a password is for TLS and for this machine alone: use https, or Authorization: Bearer TOKEN"
	case basic && a.origins.Check(r) != nil:
		return "", "a page of another server has asked for this, and a password does not speak for it"
	case basic:
		token = password
	case !strings.EqualFold(scheme, "Bearer"):
		return "", wanted
	}
	sum, found := sha256.Sum256([]byte(token)), -1
	for i := range a.tokens { // compare all, so that the time reveals nothing about the tokens
		if subtle.ConstantTimeCompare(sum[:], a.tokens[i][:]) == 1 {
			found = i
		}
	}
	switch {
	case found < 0:
		return "", wanted
	case len(a.tokens) == 1: // all clients use this token, so it needs no share
		return "", ""
	}
	return strconv.Itoa(found), ""
}

// challenges lists the ways to send a token with this request.
func challenges(r *http.Request) []string {
	list := []string{`Bearer realm="muster"`}
	if isPrivate(r) {
		list = append(list, `Basic realm="muster", charset="UTF-8"`)
	}
	return list
}

// isPrivate reports whether nobody on the network can read a request, because it came over TLS
// or from this machine.
func isPrivate(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback()
}
