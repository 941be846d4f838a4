package files

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/fileio"
)

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
func (e Entry) Link() string {
	parts := strings.Split(e.Name, "/")
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
		w.Header().Set("Allow", "GET, HEAD")
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
