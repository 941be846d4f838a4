package files

import (
	"bytes"
	"net/http"
	"strconv"

	"muster/internal/fair"
)

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
