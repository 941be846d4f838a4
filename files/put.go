package files

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"muster/fileio"
)

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
		s.fail(w, r, fmt.Errorf("header Content-Range %w: a file is written as a whole", errHeader))
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

// errHeader is the error of an invalid header.
var errHeader = errors.New("cannot be understood")

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
		return nil, fmt.Errorf("header %s: %q %w: write tags in quotation marks, or *", name, part, errHeader)
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
					return nil, fmt.Errorf("header %s: %q %w: write the value as sha-256=:BASE64: with colons", header, part, errHeader)
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
