package web

import (
	"encoding/json"
	"net/http"
	"time"
)

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
