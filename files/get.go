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

// octets is the content type of all files. The server does not inspect them, and browsers must
// not guess.
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
	if wantsWholeFile(r) {
		h.Set("Last-Modified", f.Changed.UTC().Format(http.TimeFormat))
		h.Set("Accept-Ranges", "bytes")
		h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
		if r.Method == http.MethodGet {
			if f.Size > bufferedMax && r.ProtoMajor == 1 && s.options.More != nil {
				s.options.More(r.Context())
			}
			s.abortBroken(r, f.CopyTo(r.Context(), w, 0, f.Size))
		}
		return
	}
	// The standard library evaluates conditions and ranges.
	content := &content{ctx: r.Context(), file: f, size: f.Size}
	http.ServeContent(w, r, "", f.Changed, content)
	s.abortBroken(r, content.end())
}

// bufferedMax is how many bytes net/http buffers. It writes a longer answer in two pieces or
// more. The head and these bytes are the first piece.
const bufferedMax = 4096

// wantsWholeFile reports whether a request wants the whole file unconditionally.
func wantsWholeFile(r *http.Request) bool {
	for _, header := range []string{"Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	return true
}

func etag(tag string) string { return `"` + tag + `"` }

// content adapts a file to http.ServeContent. For several ranges, a goroutine reads it. That
// goroutine may still read when ServeContent has returned because the client has gone.
type content struct {
	ctx  context.Context
	size int64
	at   int64

	mu   sync.Mutex
	file *fileio.File // nil = reading has ended
	err  error        // of the store
}

// end waits for a running Read, prevents further reads, and returns the store's error.
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
		return 0, errors.New("the offset is negative")
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
	into := &sliceWriter{p: p}
	if c.err = c.file.CopyTo(c.ctx, into, c.at, n); c.err != nil {
		return into.n, c.err
	}
	c.at += n
	return into.n, nil
}

// sliceWriter fills a slice.
type sliceWriter struct {
	p []byte
	n int
}

func (i *sliceWriter) Write(data []byte) (int, error) {
	n := copy(i.p[i.n:], data)
	i.n += n
	return n, nil
}
