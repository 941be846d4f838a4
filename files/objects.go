package files

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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
	describe(h, f.Info)
	if wantsWholeFile(r) {
		h["Last-Modified"] = []string{f.Changed.UTC().Format(http.TimeFormat)}
		h["Accept-Ranges"] = []string{"bytes"}
		h["Content-Length"] = []string{strconv.FormatInt(f.Size, 10)}
		err := f.CopyTo(r.Context(), s.fileWriter(w, r, f.Size), 0, f.Size)
		if errors.Is(err, fileio.ErrBusy) { // and nothing was written
			s.fail(w, r, err)
			return
		}
		s.abortBroken(r, err)
		return
	}
	// Copy a byte, which takes the memory for more: it cannot be refused once the answer begins.
	if err := f.CopyTo(r.Context(), &sliceWriter{p: make([]byte, 1)}, 0, min(f.Size, 1)); err != nil {
		s.fail(w, r, err)
		return
	}
	// The standard library evaluates conditions and ranges.
	content := &content{ctx: r.Context(), file: f, size: f.Size}
	http.ServeContent(w, r, "", f.Changed, content)
	s.abortBroken(r, content.end())
}

// head answers a HEAD, which reads nothing of the file.
func (s *Server) head(w http.ResponseWriter, r *http.Request, name string) {
	info, err := s.store.Stat(r.Context(), name)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	describe(w.Header(), info)
	http.ServeContent(w, r, "", info.Changed, &content{size: info.Size})
}

func describe(h http.Header, i fileio.Info) {
	h["Etag"] = []string{etag(i.Tag)} // Set would compute this spelling each time
	h["Content-Type"] = []string{octets}
	h["X-Content-Type-Options"] = []string{"nosniff"}
}

// fileWriter returns the writer for a whole file of this size.
func (s *Server) fileWriter(w http.ResponseWriter, r *http.Request, size int64) io.Writer {
	if size <= bufferedMax || r.ProtoMajor != 1 {
		return w
	}
	if s.options.More != nil {
		s.options.More(r.Context())
	}
	return fileAnswer(w)
}

// bufferedMax is how many bytes net/http buffers. It writes a longer answer in two pieces or
// more. The head and these bytes are the first piece.
const bufferedMax = 4096

// wantsWholeFile reports whether a request wants the whole file unconditionally.
func wantsWholeFile(r *http.Request) bool {
	for _, header := range []string{"Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		if values := r.Header[header]; len(values) > 0 && values[0] != "" {
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

func (s *Server) put(w http.ResponseWriter, r *http.Request, name string) {
	// Refuse what can be refused before asking for the body (Expect: 100-continue).
	if err := fileio.CheckName(name); err != nil {
		s.fail(w, r, err)
		return
	}
	if r.ContentLength > s.options.BodyMax {
		s.fail(w, r, &http.MaxBytesError{Limit: s.options.BodyMax})
		return
	}
	if r.Header.Get("Content-Range") != "" { // a resumed upload
		s.fail(w, r, fmt.Errorf("header Content-Range %w: a file is written as a whole", errInput))
		return
	}
	want, err := parseConditions(r.Header)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	body, err := verifyDigest(r.Header, r.Body)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var bounded io.Reader = http.MaxBytesReader(w, body, s.options.BodyMax)
	if s.options.PageSize > 0 {
		bounded = limitReads(bounded, s.options.PageSize)
	}
	info, err := s.store.Put(r.Context(), name, bounded, r.ContentLength, want)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("ETag", etag(info.Tag))
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request, name string) {
	want, err := parseConditions(r.Header)
	if err == nil {
		err = s.store.Delete(r.Context(), name, want)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// errInput is the error of an invalid header or message.
var errInput = errors.New("cannot be understood")

// parseConditions parses If-Match, or else If-Unmodified-Since, and If-None-Match (RFC 9110,
// 13.1). It returns nil if the request has none of them.
func parseConditions(h http.Header) (fileio.Condition, error) {
	match, err := parseTags(h, "If-Match")
	if err != nil {
		return nil, err
	}
	none, err := parseTags(h, "If-None-Match")
	if err != nil {
		return nil, err
	}
	since, err := http.ParseTime(h.Get("If-Unmodified-Since"))
	dated := err == nil && match == nil
	if match == nil && none == nil && !dated {
		return nil, nil
	}
	return func(now *fileio.Info) bool {
		is := func(tags []string) bool {
			return now != nil && (slices.Contains(tags, "*") || slices.Contains(tags, now.Tag))
		}
		later := dated && now != nil && now.Changed.Truncate(time.Second).After(since)
		return (match == nil || is(match)) && (none == nil || !is(none)) && !later
	}, nil
}

// parseTags returns the tags of a header, or "*"; nil = the header is missing. Weak tags keep
// their W/ prefix, so they match no file.
func parseTags(h http.Header, name string) (list []string, err error) {
	if len(h.Values(name)) == 0 {
		return nil, nil
	}
	text := strings.TrimSpace(strings.Join(h.Values(name), ","))
	if text == "*" {
		return []string{"*"}, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		weak, isWeak := strings.CutPrefix(part, "W/")
		tag, ok := strings.CutPrefix(weak, `"`)
		if tag, ok2 := strings.CutSuffix(tag, `"`); ok && ok2 {
			if !isWeak {
				list = append(list, tag)
			} else {
				list = append(list, part)
			}
			continue
		}
		return nil, fmt.Errorf("header %s: %q %w: write tags in quotation marks, or *", name, part, errInput)
	}
	return list, nil
}

// errDigest is the error of a body that does not match its announced digest.
var errDigest = errors.New("the body does not have the announced SHA-256")

// verifyDigest returns a body that ends with an error if it does not have the SHA-256 that the
// header announces in Repr-Digest or Content-Digest (RFC 9530).
func verifyDigest(h http.Header, body io.ReadCloser) (io.ReadCloser, error) {
	for _, header := range []string{"Repr-Digest", "Content-Digest"} {
		for _, value := range h.Values(header) {
			for part := range strings.SplitSeq(value, ",") {
				text, ok := strings.CutPrefix(strings.TrimSpace(part), "sha-256=")
				if !ok {
					continue // another algorithm
				}
				want, err := base64.StdEncoding.DecodeString(strings.Trim(text, ":"))
				if err != nil || len(want) != sha256.Size {
					return nil, fmt.Errorf("header %s: %q %w: write the value as sha-256=:BASE64: with colons", header, part, errInput)
				}
				return &digestBody{ReadCloser: body, hash: sha256.New(), want: want}, nil
			}
		}
	}
	return body, nil
}

// digestBody is a body with a known digest.
type digestBody struct {
	io.ReadCloser
	hash hash.Hash
	want []byte
}

func (c *digestBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.hash.Write(p[:n])
	if err == io.EOF && subtle.ConstantTimeCompare(c.hash.Sum(nil), c.want) != 1 {
		err = errDigest
	}
	return n, err
}

// ErrStalled is the error of a request that sent and received no byte for two minutes.
// The other end is still connected, but idle.
var ErrStalled = errors.New("nothing has moved for two minutes")

// stallMax is the time after which a request counts as stalled.
const stallMax = 2 * time.Minute

// stallWatch ends a request when neither its body nor its answer's body moves. The cause is
// ErrStalled.
type stallWatch struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	timer *time.Timer
}

func newStallWatch(ctx context.Context) *stallWatch {
	m := &stallWatch{}
	m.ctx, m.end = context.WithCancelCause(ctx)
	m.timer = time.AfterFunc(stallMax, func() { m.end(ErrStalled) })
	return m
}

// close stops the watch.
func (m *stallWatch) close() {
	m.timer.Stop()
	m.end(nil)
}

// explain returns ErrStalled in place of an error that the stall caused.
func (m *stallWatch) explain(err error) error {
	if err != nil && err != io.EOF && context.Cause(m.ctx) == ErrStalled {
		return ErrStalled
	}
	return err
}

// watch returns a body whose reads count as movement. In an answer, the caller's own pauses do not count, and its end
// ends the watch.
func (m *stallWatch) watch(body io.ReadCloser, isAnswer bool) io.ReadCloser {
	if isAnswer {
		m.timer.Stop()
	}
	return &watchedBody{body, m, isAnswer}
}

type watchedBody struct {
	io.ReadCloser
	m        *stallWatch
	isAnswer bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.m.timer.Reset(stallMax)
	n, err := b.ReadCloser.Read(p)
	if b.isAnswer {
		b.m.timer.Stop()
	}
	return n, b.m.explain(err)
}

func (b *watchedBody) Close() error {
	if b.isAnswer {
		defer b.m.close()
	}
	return b.ReadCloser.Close()
}
