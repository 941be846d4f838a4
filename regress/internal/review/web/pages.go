package web

import (
	"embed"
	"net/http"
	"path"

	"muster/regress/internal/style"
)

//go:embed page
var pages embed.FS

// handler serves all addresses of the review.
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
	m.HandleFunc("GET /filter", h.seated(h.filter))
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
	own, err := pages.ReadFile("page/page.css")
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(append([]byte(style.CSS()), own...))
}
