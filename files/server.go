// Package files serves a store of package fileio to others, and is their client: whole
// files under names over HTTP, for goldens, corpora and build caches.
//
// The package must not open files itself, nor know which engine does.
package files

import (
	"crypto/sha256"
	"crypto/subtle"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"muster/fileio"
)

// Options of a server.
type Options struct {
	// BodyMax is how many bytes a file has at most; 0 = 16 GiB.
	BodyMax int64

	// Token is what requests must bring, as "Authorization: Bearer TOKEN"; "" = nothing.
	Token string

	// Patience is how long a client may take to send or to take a piece of 256 KiB, and the
	// last one: then its connection is closed. 0 = one minute.
	Patience time.Duration

	// Log gets what went wrong that is not the client's fault; it must not block. nil = nobody.
	Log *slog.Logger
}

const (
	bodyDefault     = 16 << 30
	patienceDefault = time.Minute
)

// Server is an http.Handler of /files/NAME.
type Server struct {
	page    *template.Template
	store   *fileio.Store
	options Options
	token   [sha256.Size]byte
}

// NewServer serves a store, which stays its maker's to close.
func NewServer(store *fileio.Store, o Options) *Server {
	if o.BodyMax == 0 {
		o.BodyMax = bodyDefault
	}
	if o.Patience == 0 {
		o.Patience = patienceDefault
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{page: template.Must(template.New("list").Parse(listMarkup)), store: store, options: o, token: sha256.Sum256([]byte(o.Token))}
}

// prefix is where files are.
const prefix = "/files/"

// ServeHTTP answers one request. What is sent is taken as it is: a name with an empty part
// or with dots is refused, and not cleaned into another.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.allowed(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="muster"`)
		http.Error(w, "a token is wanted: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, prefix)
	if !ok {
		http.Error(w, "files are below "+prefix, http.StatusNotFound)
		return
	}
	if name == "" {
		s.list(w, r)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		s.get(s.pacedWriter(w), r, name)
	case http.MethodPut:
		s.put(w, r, name)
	case http.MethodDelete:
		s.delete(w, r, name)
	default:
		w.Header().Set("Allow", "GET, HEAD, PUT, DELETE")
		http.Error(w, r.Method+" means nothing here", http.StatusMethodNotAllowed)
	}
}

// allowed compares digests, so that how long it takes tells nothing of the token.
func (s *Server) allowed(r *http.Request) bool {
	if s.options.Token == "" {
		return true
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}
