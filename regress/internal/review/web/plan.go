package web

import (
	"cmp"
	"crypto/tls"
	"embed"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"muster/internal/style"
	"muster/regress/internal/fault"
	"muster/regress/internal/review"
)

// A plan describes what a commit would write.
type plan struct {
	Revision  int               `json:"revision"`
	Golden    string            `json:"golden"`
	Kept      int               `json:"kept"`      // number of decisions
	Decisions []plannedChoice   `json:"decisions"` // the first decisions
	Families  []plannedFamily   `json:"families"`  // the first items that were joined or split
	Moved     int               `json:"moved"`     // how many those are
	Promote   int               `json:"promote"`
	Names     []string          `json:"names"`  // the first cases
	Shut      string            `json:"shut"`   // why no case can go into the golden
	Barred    int               `json:"barred"` // number of cases if the golden could be written
	Stay      int               `json:"stay"`
	Waiting   []waiting         `json:"waiting"`
	Waits     int               `json:"waits"` // number of cases in all
	Untouched int               `json:"untouched"`
	Skipped   int               `json:"skipped"` // number of items
	Conflicts []review.Conflict `json:"conflicts"`
}

type plannedChoice struct {
	ID    string       `json:"id"`
	Name  string       `json:"name"`
	Now   review.State `json:"now"`
	Was   review.State `json:"was"`
	Cases int          `json:"cases"`
}

type plannedFamily struct {
	ID     string `json:"id"`
	Family string `json:"family"` // empty if it leaves its family
}

// waiting is a set of cases that have accepted causes, and the other causes that they wait for.
type waiting struct {
	Cases   int      `json:"cases"`
	For     []string `json:"for"` // IDs
	Example string   `json:"example"`
}

// namesMax bounds the case names of a plan, choicesMax its decisions, and waitingMax its sets
// of causes that cases wait for.
const (
	namesMax   = 200
	choicesMax = 100
	waitingMax = 20
)

func (h *house) plan(w http.ResponseWriter, _ *http.Request, s *seat) {
	p := plan{Decisions: []plannedChoice{}, Families: []plannedFamily{}, Names: []string{}, Waiting: []waiting{}}
	st := s.read(func(d *review.Desk) { p.fill(d) })
	p.Revision, p.Conflicts = st.Revision, st.Conflicts
	answer(w, p)
}

func (p *plan) fill(d *review.Desk) {
	changes := d.Changes()
	p.Golden, p.Kept, p.Promote, p.Stay = d.Golden, len(changes.Decisions), len(changes.Promote), changes.Stay
	p.Shut, p.Barred = d.Shut(), changes.Barred
	for _, id := range changes.IDs()[:min(len(changes.Decisions), choicesMax)] {
		item, _ := d.Index(id)
		p.Decisions = append(p.Decisions, plannedChoice{id, d.Items()[item].Name, changes.Decisions[id], changes.Before[id], d.Items()[item].Cases})
	}
	p.Moved = len(changes.Families)
	for _, id := range slices.SortedFunc(maps.Keys(changes.Families), review.ByID)[:min(p.Moved, choicesMax)] {
		p.Families = append(p.Families, plannedFamily{id, changes.Families[id]})
	}
	p.Skipped = d.Counts()[review.Skipped]
	by := map[string]*waiting{}
	for _, w := range d.Waiting() {
		p.wait(d, w, by)
	}
	for i, c := range d.Cases() {
		switch {
		case c.Promoted:
		case !d.Promotable(i):
			p.Untouched++
		case d.Shut() == "" && len(p.Names) < namesMax:
			p.Names = append(p.Names, c.Printed)
		}
	}
	p.Untouched -= p.Waits
	for _, w := range by {
		p.Waiting = append(p.Waiting, *w)
	}
	slices.SortFunc(p.Waiting, func(a, b waiting) int { return cmp.Or(b.Cases-a.Cases, strings.Compare(a.Example, b.Example)) })
	p.Waiting = p.Waiting[:min(len(p.Waiting), waitingMax)]
}

// wait adds a waiting case to the set with the same causes.
func (p *plan) wait(d *review.Desk, w review.Wait, by map[string]*waiting) {
	var ids []string
	for _, item := range w.For {
		ids = append(ids, d.Items()[item].ID)
	}
	key := strings.Join(ids, " ")
	if by[key] == nil {
		by[key] = &waiting{For: ids, Example: d.Cases()[w.Case].Printed}
	}
	by[key].Cases++
	p.Waits++
}

// reach describes which hosts and names lead to an address.
type reach struct {
	local  bool // only this machine
	names  []string
	config *tls.Config // nil without TLS
}

// check returns the reach of the address. It refuses an address on which others could read
// along.
func (o *Options) check() (r reach, err error) {
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return r, fault.Inputf("--web %q: it is HOST:PORT, as in 127.0.0.1:8080: %w", o.Addr, err)
	}
	r.local = isLoopback(host)
	if (o.Certificate == "") != (o.Key == "") {
		return r, fault.Inputf("--tls-cert and --tls-key belong together: give both, or none")
	}
	if !r.local && o.Certificate == "" && !o.InTheClear {
		return r, fault.Inputf("--web %s: others reach this address, and could read along: give a certificate (--tls-cert, --tls-key), or say --in-the-clear", o.Addr)
	}
	if o.Certificate == "" {
		return r, nil
	}
	pair, err := tls.LoadX509KeyPair(o.Certificate, o.Key)
	if err != nil {
		return r, fault.Inputf("--tls-cert %s, --tls-key %s: %w", o.Certificate, o.Key, err)
	}
	r.names = pair.Leaf.DNSNames
	r.config = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return r, nil
}

// knows reports whether a request's host belongs to this page. Another page can make its own
// name lead here (DNS rebinding), but it cannot do so with an address. So any address is as
// good as a known name.
func (r reach) knows(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil { // the host has no port
		host = hostport
	}
	host = strings.Trim(host, "[]")
	return isLoopback(host) || !r.local && net.ParseIP(host) != nil || slices.ContainsFunc(r.names, func(name string) bool { return strings.EqualFold(name, host) })
}

// isLoopback reports whether a host always means the asking machine itself.
func isLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// origin returns the beginning of the link. It replaces an address that stands for all
// interfaces by one that a browser can open.
func (r reach) origin(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	switch ip := net.ParseIP(host); {
	case err != nil:
		return r.scheme() + at.String()
	case len(r.names) > 0 && !r.local:
		host = strings.Replace(r.names[0], "*", "review", 1)
	case ip != nil && ip.IsUnspecified():
		host = "127.0.0.1"
	}
	return r.scheme() + net.JoinHostPort(host, port)
}

func (r reach) scheme() string {
	if r.config != nil {
		return "https://"
	}
	return "http://"
}

// beat is the time between two signs of life of a stream.
const beat = 15 * time.Second

// changes tells a page, one line of JSON at a time, that there is something new to show or that
// the review has ended. A browser's own event stream cannot send the key.
func (h *house) changes(w http.ResponseWriter, r *http.Request, s *seat) {
	if !h.listens(+1) {
		refuse(w, http.StatusTooManyRequests, "too many pages are open")
		return
	}
	defer h.listens(-1)
	if err := unlimited(w); err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, flush := json.NewEncoder(w), http.NewResponseController(w)
	tell := func(v any) bool { return out.Encode(v) == nil && flush.Flush() == nil }
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for last := 0; ; {
		revision, changed := s.next()
		if revision != last && !tell(map[string]int{"revision": revision}) {
			return
		}
		last = revision
		select {
		case <-changed:
		case <-tick.C:
			if !tell(struct{}{}) {
				return
			}
		case <-r.Context().Done():
			tell(map[string]bool{"ended": true})
			return
		}
	}
}

//go:embed page
var pages embed.FS

//go:embed page/page.css
var pageStyle string

func (h *house) handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", file("index.html", "text/html; charset=utf-8"))
	for _, name := range []string{"page.js", "list.js", "difference.js", "dialogs.js", "server.js", "words.js"} {
		m.HandleFunc("GET /"+name, file(name, "text/javascript; charset=utf-8"))
	}
	m.HandleFunc("GET /icon.svg", file("icon.svg", "image/svg+xml"))
	m.HandleFunc("GET /page.css", styleSheet)
	m.HandleFunc("POST /session", h.session)
	m.HandleFunc("GET /review", h.seated(h.review))
	m.HandleFunc("GET /state", h.seated(h.now))
	m.HandleFunc("POST /filter", h.seated(h.filter))
	m.HandleFunc("GET /cases", h.seated(h.cases))
	m.HandleFunc("GET /difference", h.seated(h.difference))
	m.HandleFunc("GET /plan", h.seated(h.plan))
	m.HandleFunc("GET /changes", h.seated(h.changes))
	m.HandleFunc("POST /act", h.seated(h.act))
	m.HandleFunc("POST /commit", h.seated(h.commit))
	m.HandleFunc("POST /link", h.seated(h.another))
	m.HandleFunc("POST /finish", h.seated(h.finish))
	return h.guarded(m)
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
