// Package files serves a store, such as one of package fileio, over HTTP, and contains the clients: whole
// files under names, for goldens, corpora and build caches.
//
// The package must not open files itself, nor know which engine does.
package files

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/fileio"
	"muster/files/internal/dav"
	"muster/files/internal/pace"
	"muster/files/internal/remotecache"
	"muster/internal/fair"
)

// Options configure a server.
type Options struct {
	// BodyMax is the largest size of a file in bytes; 0 = 16 GiB.
	BodyMax int64

	// PageSize is how many bytes of a file the server reads from a client at a time, and how
	// many a message holds; at most PageSizeMax. 0 = 64 KiB in a message, and up to 1 MiB
	// from other bodies. Messages with more than PageSize and more than 64 KiB are refused.
	PageSize int

	// Tokens are the accepted tokens. A request must have one of them: as "Authorization:
	// Bearer TOKEN", or, over TLS or from this machine, as the password of basic
	// authentication with any user. If there are several tokens, each has a share of memory
	// and of places at the engine. Without tokens every request is accepted.
	Tokens []string
	// ReadTokens are accepted for requests that change nothing. Others get 403.
	ReadTokens []string

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

// Server is an http.Handler. It serves /files/NAME, also with methods of WebDAV, the methods of
// the service muster.files.v1.Files for Connect, gRPC and gRPC-Web, the cache services of the
// Remote Execution API for gRPC, and /bench, which echoes posted bodies.
type Server struct {
	page     *template.Template
	store    fileio.Files
	options  Options
	access   *access
	messages *messages
	dav      dav.Handler
	cache    *remotecache.Cache
	echoes   sync.Pool // of *bytes.Buffer
}

// NewServer serves a store. The caller still has to close the store.
func NewServer(store fileio.Files, o Options) *Server {
	o.BodyMax = cmp.Or(o.BodyMax, bodyDefault)
	o.RateMin = cmp.Or(o.RateMin, rateDefault)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.PageSize = min(max(o.PageSize, 0), PageSizeMax)
	s := &Server{page: template.Must(template.New("list").Parse(listMarkup)), store: store, options: o, access: newAccess(o.Tokens, o.ReadTokens)}
	s.messages = newMessages(s, cmp.Or(o.PageSize, pageDefault))
	s.dav = dav.Handler{Store: store, Link: linkOf, Fail: s.fail}
	s.cache = s.messages.newCache()
	return s
}

// prefix is the path of the files.
const prefix = "/files/"

// ServeHTTP answers one request. It does not clean paths: a name with an empty part or with
// dots is refused.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, onlyReads, refusal := s.access.admit(r)
	r, done := s.pace(&w, r, token)
	defer done()
	if refusal != "" {
		w.Header()["Www-Authenticate"] = challenges(r)
		http.Error(w, refusal, http.StatusUnauthorized)
		return
	}
	if onlyReads {
		if !changesNothing(r) {
			http.Error(w, "this token only reads", http.StatusForbidden) // gRPC makes PERMISSION_DENIED of it
			return
		}
		r = r.WithContext(remotecache.ReadOnly(r.Context()))
	}
	name, ok := strings.CutPrefix(r.URL.Path, prefix)
	switch {
	case ok && dav.Handles(r.Method):
		s.dav.Serve(w, r, name)
	case ok && name == "":
		s.list(w, r)
	case ok:
		s.file(w, r, name)
	case r.URL.Path == benchAt:
		s.bench(w, r)
	case strings.HasPrefix(r.URL.Path, messagesAt):
		s.messages.ServeHTTP(w, r)
	case remotecache.Serves(r.URL.Path):
		s.cache.ServeHTTP(w, r)
	default:
		http.Error(w, "files are below "+prefix, http.StatusNotFound)
	}
}

func (s *Server) file(w http.ResponseWriter, r *http.Request, name string) {
	switch r.Method {
	case http.MethodGet:
		s.get(w, r, name)
	case http.MethodHead:
		s.head(w, r, name)
	case http.MethodPut:
		s.put(w, r, name)
	case http.MethodDelete:
		s.delete(w, r, name)
	default:
		w.Header().Set("Allow", dav.Allowed(name))
		http.Error(w, r.Method+" is not supported here", http.StatusMethodNotAllowed)
	}
}

// changesNothing reports whether a request only reads.
func changesNothing(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "PROPFIND":
		return true
	case http.MethodPost:
		method, isMessage := strings.CutPrefix(r.URL.Path, messagesAt)
		return isMessage && (method == "Download" || method == "Exist") || remotecache.ChangesNothing(r.URL.Path) || r.URL.Path == benchAt
	}
	return false
}

// access decides which requests a server answers: those with one of its tokens, or all if it
// has no token.
type access struct {
	tokens  [][sha256.Size]byte
	writers int // the tokens behind these only read
	origins *http.CrossOriginProtection
}

func newAccess(writers, readers []string) *access {
	a := &access{writers: len(writers), origins: http.NewCrossOriginProtection()}
	for _, t := range slices.Concat(writers, readers) {
		a.tokens = append(a.tokens, sha256.Sum256([]byte(t)))
	}
	return a
}

// admit returns whose share a request uses, whether it may only read, and why it is refused; "" = it is
// admitted. The share belongs to the request's token.
//
// A token is either a bearer token (RFC 6750) or the password of basic authentication (RFC
// 7617). Some clients can send only a password. Browsers resend a password for any page that
// asks them to, and others on the network can read it. So a password is accepted only over TLS
// or from this machine, and only for this server's pages.
func (a *access) admit(r *http.Request) (whose string, onlyReads bool, refusal string) {
	const wanted = "a token is wanted: Authorization: Bearer TOKEN"
	if len(a.tokens) == 0 {
		return "", false, ""
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	_, password, basic := r.BasicAuth()
	switch {
	case basic && !isPrivate(r):
		return "", false, "a password is for TLS and for this machine alone: use https, or Authorization: Bearer TOKEN"
	case basic && a.origins.Check(r) != nil:
		return "", false, "a page of another server has asked for this, and a password does not speak for it"
	case basic:
		token = password
	case !strings.EqualFold(scheme, "Bearer"):
		return "", false, wanted
	}
	sum, found := sha256.Sum256([]byte(token)), -1
	for i := range a.tokens { // compare all, so that the time reveals nothing about the tokens
		if subtle.ConstantTimeCompare(sum[:], a.tokens[i][:]) == 1 && found < 0 {
			found = i
		}
	}
	onlyReads = found >= a.writers
	switch {
	case found < 0:
		return "", false, wanted
	case len(a.tokens) == 1: // all clients use this token, so it needs no share
		return "", onlyReads, ""
	}
	return strconv.Itoa(found), onlyReads, ""
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

// listing is one page of a list, and its JSON.
type listing struct {
	Prefix string  `json:"prefix"`
	Files  []Entry `json:"files"`
	Next   string  `json:"next,omitempty"` // the value of after for the next page
}

// Entry describes a file in a list.
type Entry struct {
	Name    string    `json:"name"`
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
	ETag    string    `json:"etag"`
}

// Link returns the path of the file, with its name escaped.
func (e Entry) Link() string { return linkOf(e.Name) }

func linkOf(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return prefix + strings.Join(parts, "/")
}

//go:embed list.html
var listMarkup string

// list answers with the files whose names begin with prefix and follow after, as JSON, or as a
// page for browsers.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", dav.Allowed(""))
		http.Error(w, "a list is read-only: use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	query := r.URL.Query()
	limit := fileio.ListMax
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > fileio.ListMax {
			http.Error(w, "limit: from 1 to "+strconv.Itoa(fileio.ListMax)+" are possible", http.StatusBadRequest)
			return
		}
		limit = n
	}
	infos, more, err := s.store.List(r.Context(), query.Get("prefix"), query.Get("after"), limit)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	l := listing{Prefix: query.Get("prefix"), Files: []Entry{}}
	for _, i := range infos {
		l.Files = append(l.Files, Entry{i.Name, i.Size, i.Changed.UTC(), etag(i.Tag)})
	}
	if more && len(infos) > 0 {
		l.Next = infos[len(infos)-1].Name
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		s.abortBroken(r, s.page.Execute(w, l))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	s.abortBroken(r, json.NewEncoder(w).Encode(l))
}

// Bounds on PageSize.
const (
	// PageSizeMax is the largest PageSize.
	PageSizeMax = 1 << 20
	pageDefault = 64 << 10
)

// limitReads returns a reader that reads at most a page at a time.
func limitReads(r io.Reader, page int) io.Reader { return &pagedReader{r, page} }

type pagedReader struct {
	r    io.Reader
	page int
}

func (p *pagedReader) Read(data []byte) (int, error) {
	return p.r.Read(data[:min(len(data), p.page)])
}

// benchAt is the path that echoes a request. It measures everything but files.
const benchAt = "/bench"

// benchMax is the longest body that is echoed, in bytes.
const benchMax = 64 << 10

func (s *Server) bench(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, r.Method+" is not supported here", http.StatusMethodNotAllowed)
		return
	}
	client := fair.ClientOf(r.Context())
	if err := s.messages.single.Take(r.Context(), client); err != nil {
		s.fail(w, r, err)
		return
	}
	defer s.messages.single.Give(client, 1)
	buffer, ok := s.echoes.Get().(*bytes.Buffer)
	if !ok {
		buffer = new(bytes.Buffer)
	}
	defer s.echoes.Put(buffer)
	buffer.Reset()
	if _, err := buffer.ReadFrom(http.MaxBytesReader(w, r.Body, benchMax)); err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", octets)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(buffer.Len()))
	_, _ = w.Write(buffer.Bytes()) // an error means that the client has gone
}
