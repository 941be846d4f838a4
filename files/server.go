// Package files serves a store of package fileio over HTTP, and contains the clients: whole
// files under names, for goldens, corpora and build caches.
//
// The package must not open files itself, nor know which engine does.
package files

import (
	"cmp"
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"muster/fileio"
	"muster/files/internal/pace"
)

// Options configure a server.
type Options struct {
	// BodyMax is the largest size of a file in bytes; 0 = 16 GiB.
	BodyMax int64

	// PageSize is how many bytes of a file the server reads from a client at a time, and how
	// many a message holds; at most PageSizeMax. 0 = 64 KiB in a message, and up to 256 KiB
	// from other bodies. Messages with more than PageSize and more than 64 KiB are refused.
	PageSize int

	// Tokens are the accepted tokens. A request must have one of them: as "Authorization:
	// Bearer TOKEN", or, over TLS or from this machine, as the password of basic
	// authentication with any user. If there are several tokens, each has a share of memory
	// and of places at the engine. Without tokens every request is accepted.
	Tokens []string

	// RateMin is how many bytes a second, up to RateMax, a client must send of a body or read
	// of an answer on an HTTP/2 stream. A request ends when its client is 5 s behind; 0 = 1
	// KiB.
	RateMin int64

	// WaitMax is how long a message waits for memory before it is refused; 0 = no limit.
	WaitMax time.Duration

	// More is called with a request's context before an answer that takes several writes, so
	// that it can inform the connection; nil = not called.
	More func(context.Context)

	// Log receives errors that are not the client's fault. It must not block; nil = no log.
	Log *slog.Logger
}

// RateMax is the largest RateMin.
const RateMax = pace.RateMax

const (
	bodyDefault = 16 << 30
	rateDefault = 1 << 10
)

// Server is an http.Handler. It serves /files/NAME, the methods of the service
// muster.files.v1.Files for Connect, gRPC and gRPC-Web, and /bench, which echoes posted
// bodies.
type Server struct {
	page     *template.Template
	store    *fileio.Store
	options  Options
	access   *access
	messages *messages
	echoes   sync.Pool // of *bytes.Buffer
}

// NewServer serves a store. The caller still has to close the store.
func NewServer(store *fileio.Store, o Options) *Server {
	if o.BodyMax == 0 {
		o.BodyMax = bodyDefault
	}
	if o.RateMin == 0 {
		o.RateMin = rateDefault
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.PageSize = min(max(o.PageSize, 0), PageSizeMax)
	s := &Server{page: template.Must(template.New("list").Parse(listMarkup)), store: store, options: o, access: newAccess(o.Tokens)}
	s.messages = newMessages(s, cmp.Or(o.PageSize, pageDefault))
	return s
}

// prefix is the path of the files.
const prefix = "/files/"

// ServeHTTP answers one request. It does not clean paths: a name with an empty part or with
// dots is refused.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, refusal := s.access.admit(r)
	r, done := s.pace(&w, r, token)
	defer done()
	if refusal != "" {
		w.Header()["Www-Authenticate"] = challenges(r)
		http.Error(w, refusal, http.StatusUnauthorized)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, prefix)
	switch {
	case ok && name == "":
		s.list(w, r)
	case ok:
		s.file(w, r, name)
	case r.URL.Path == benchAt:
		s.bench(w, r)
	case strings.HasPrefix(r.URL.Path, messagesAt):
		s.messages.ServeHTTP(w, r)
	default:
		http.Error(w, "files are below "+prefix, http.StatusNotFound)
	}
}

func (s *Server) file(w http.ResponseWriter, r *http.Request, name string) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		s.get(w, r, name)
	case http.MethodPut:
		s.put(w, r, name)
	case http.MethodDelete:
		s.delete(w, r, name)
	default:
		w.Header().Set("Allow", "GET, HEAD, PUT, DELETE")
		http.Error(w, r.Method+" is not supported here", http.StatusMethodNotAllowed)
	}
}
