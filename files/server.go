// Package files serves a store of package fileio to others, and is their client: whole
// files under names over HTTP, for goldens, corpora and build caches.
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

// Options of a server.
type Options struct {
	// BodyMax is how many bytes a file has at most; 0 = 16 GiB.
	BodyMax int64

	// PageSize is how many bytes of a file are taken from a client at a time, and how many
	// a message has; up to PageSizeMax, which what is more counts as. 0 = 64 KiB in a
	// message, and of other bodies as much as is there, 256 KiB at most. Messages with
	// more than this, and more than 64 KiB, are refused.
	PageSize int

	// Tokens are the tokens that are accepted. A request must bring one of them: as
	// "Authorization: Bearer TOKEN", or over TLS and from this machine as the password of
	// basic authentication, with any user. Each of several tokens has a share of memory and of
	// places at the engine. None = no token is wanted.
	Tokens []string

	// RateMin is how many bytes a second, up to RateMost, a client must send of a body, or take of an answer on
	// a stream of HTTP/2. A request whose client is 5 s behind is ended. 0 = 1 KiB.
	RateMin int64

	// WaitMax is how long a message waits for memory until it is refused; 0 = as long as it
	// takes.
	WaitMax time.Duration

	// More is called with a request's context before an answer of several writes, and may tell
	// the connection; nil = nobody is told.
	More func(context.Context)

	// Log gets what went wrong that is not the client's fault; it must not block. nil = nobody.
	Log *slog.Logger
}

// RateMost is the largest RateMin.
const RateMost = pace.RateMost

const (
	bodyDefault = 16 << 30
	rateDefault = 1 << 10
)

// Server is an http.Handler of /files/NAME, of the methods of the service
// muster.files.v1.Files, which Connect, gRPC and gRPC-Web call, and of /bench, which
// answers what is posted to it.
type Server struct {
	page     *template.Template
	store    *fileio.Store
	options  Options
	access   *access
	messages *messages
	echoes   sync.Pool // of *bytes.Buffer
}

// NewServer serves a store, which stays its maker's to close.
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

// prefix is where files are.
const prefix = "/files/"

// ServeHTTP answers one request. What is sent is taken as it is: a name with an empty part
// or with dots is refused, and not cleaned into another.
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
		http.Error(w, r.Method+" means nothing here", http.StatusMethodNotAllowed)
	}
}
