package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"sync"

	"muster/fileio"
)

// octets is what every file is, for nobody has looked into it, and no browser is to.
const octets = "application/octet-stream"

func (s *Server) get(w http.ResponseWriter, r *http.Request, name string) {
	f, err := s.store.Get(r.Context(), name)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("ETag", etag(f.Tag))
	h.Set("Content-Type", octets)
	h.Set("X-Content-Type-Options", "nosniff")
	if plain(r) {
		h.Set("Last-Modified", f.Changed.UTC().Format(http.TimeFormat))
		h.Set("Accept-Ranges", "bytes")
		h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
		if r.Method == http.MethodGet {
			if f.Size > bufferedMost && r.ProtoMajor == 1 && s.options.More != nil {
				s.options.More(r.Context())
			}
			s.broken(r, f.CopyTo(r.Context(), w, 0, f.Size))
		}
		return
	}
	// Conditions and ranges are the standard library's.
	content := &content{ctx: r.Context(), file: f, size: f.Size}
	http.ServeContent(w, r, "", f.Changed, content)
	s.broken(r, content.end())
}

// bufferedMost is how many bytes net/http keeps back: an answer with more is written in two
// pieces or more, of which the head and this much are the first.
const bufferedMost = 4096

// plain reports whether all of the file is wanted, whatever it is.
func plain(r *http.Request) bool {
	for _, header := range []string{"Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	return true
}

func etag(tag string) string { return `"` + tag + `"` }

// content is a file as http.ServeContent wants it. Of several ranges a goroutine reads them,
// which may do so still when ServeContent has returned, for the client is gone.
type content struct {
	ctx  context.Context
	size int64
	at   int64

	mu   sync.Mutex
	file *fileio.File // nil = nobody is to read it any longer
	err  error        // of the store
}

// end waits for who reads, lets nobody read any more, and returns the store's error.
func (c *content) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.file = nil
	return c.err
}

func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("before the beginning")
	}
	c.at = offset
	return offset, nil
}

func (c *content) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(int64(len(p)), c.size-c.at)
	if n <= 0 {
		return 0, io.EOF
	}
	if c.file == nil {
		return 0, fs.ErrClosed
	}
	into := &into{p: p}
	if c.err = c.file.CopyTo(c.ctx, into, c.at, n); c.err != nil {
		return into.n, c.err
	}
	c.at += n
	return into.n, nil
}

// into fills a slice.
type into struct {
	p []byte
	n int
}

func (i *into) Write(data []byte) (int, error) {
	n := copy(i.p[i.n:], data)
	i.n += n
	return n, nil
}
