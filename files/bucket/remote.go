package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"

	"muster/fileio"
	"muster/internal/pages"
)

// connectionsMax is how many requests to the object store run at the same time.
const connectionsMax = 64

// A remote is a bucket at its object store. It does not limit its callers.
type remote struct {
	peer
	client *minio.Core
	http   *http.Transport
	prefix string // ends with a slash, or is empty
}

func (r *remote) key(name string) string { return r.prefix + name }

// triesMax is how many times minio-go sends a request.
const triesMax = 5

// stat describes a file.
func (r *remote) stat(ctx context.Context, name string) (minio.ObjectInfo, error) {
	is, err := r.client.StatObject(ctx, r.bucket, r.key(name), minio.StatObjectOptions{})
	if err == nil {
		err = checkInfo(infoOf(name, is))
	}
	return is, err
}

// checkInfo refuses an answer without a size, or without the tag that conditions and pieces need.
func checkInfo(i fileio.Info) error {
	if i.Size < 0 || i.Tag == "" {
		return errNoTag
	}
	return nil
}

var errNoTag = broken("a file without size or ETag")

// remove removes a file if it has the tag match. With an empty match it removes any file, or none.
func (r *remote) remove(ctx context.Context, key, match string) error {
	return r.client.RemoveObject(withMatch(ctx, match), r.bucket, key, minio.RemoveObjectOptions{})
}

func infoOf(name string, o minio.ObjectInfo) fileio.Info {
	return fileio.Info{Name: name, Size: o.Size, Changed: o.LastModified, Tag: o.ETag}
}

// A condition is the state that a file must have before a change. The zero value is any state.
type condition struct {
	match  string // the file has this tag
	absent bool   // the file does not exist
}

// writeKey is the metadata of a file that identifies the Put that wrote it.
const writeKey = "Muster-Write"

// options returns the client's options for a write.
func (c condition) options(id string) (o minio.PutObjectOptions) {
	if id != "" {
		o.UserMetadata = map[string]string{writeKey: id}
	}
	if c.match != "" {
		o.SetMatchETag(c.match)
	}
	if c.absent {
		o.SetMatchETagExcept("*")
	}
	return o
}

// signedDigest returns the SHA-256 that the signature of a body contains, or "" over TLS, where
// minio-go signs no bodies. Without it minio-go would sign the body in chunks, and copy it.
func (r *remote) signedDigest(data []byte) string {
	if r.client.EndpointURL().Scheme != "http" {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// put writes a file with one request, and returns its tag.
func (r *remote) put(ctx context.Context, key string, data []byte, want condition, id string) (tag string, err error) {
	o := want.options(id)
	digest := r.signedDigest(data)
	o.DisableContentSha256 = digest != ""
	done, err := r.client.PutObject(ctx, r.bucket, key, bytes.NewReader(data), int64(len(data)), "", digest, o)
	if err == nil && done.ETag == "" { // a server that is no object store may answer 200 to everything
		err = errNoTag
	}
	return done.ETag, err
}

// firstSize is how much Get reads before it knows the size of the file.
const firstSize = 256 << 10

// fetch reads the first bytes of a file into b, which it fits to the file's size.
func (r *remote) fetch(ctx context.Context, name string, b *pages.Buffer) (info fileio.Info, n int, err error) {
	body, info, err := r.open(ctx, name, "", 0, firstSize)
	if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable {
		info, err = r.statEmpty(ctx, name)
		return info, 0, err
	}
	if err != nil {
		return info, 0, err
	}
	defer body.Close()
	n = int(min(info.Size, firstSize))
	b.Fit(n)
	n = min(n, len(b.Data))
	return info, n, readFull(body, b.Data[:n])
}

// openRest requests n bytes of a known file from an offset on, and reads the first ones into data.
func (r *remote) openRest(ctx context.Context, of fileio.Info, offset, n int64, data []byte) (io.ReadCloser, error) {
	body, info, err := r.open(ctx, of.Name, of.Tag, offset, n)
	if err != nil {
		return nil, err
	}
	err = errReplaced
	if info.Tag == of.Tag && info.Size == of.Size {
		err = readFull(body, data)
	}
	if err != nil {
		_ = body.Close() // the first error counts
	}
	return body, err
}

func readFull(body io.Reader, data []byte) error {
	if _, err := io.ReadFull(body, data); err != nil {
		return &brokenError{err}
	}
	return nil
}

// open requests up to n bytes of a file from an offset on. If tag is not empty, the file must
// have it.
func (r *remote) open(ctx context.Context, name, tag string, offset, n int64) (body io.ReadCloser, info fileio.Info, err error) {
	o := minio.GetObjectOptions{}
	o.Set("Range", "bytes="+strconv.FormatInt(offset, 10)+"-"+strconv.FormatInt(offset+n-1, 10))
	if tag != "" {
		o.Set("If-Match", `"`+tag+`"`)
	}
	body, is, header, err := r.client.GetObject(ctx, r.bucket, r.key(name), o)
	if err != nil {
		return nil, info, err
	}
	info = infoOf(name, is)
	if sent := header.Get("Content-Range"); sent != "" {
		first, size, ok := parseRange(sent)
		if !ok || first != offset || size < offset {
			err = &brokenError{fmt.Errorf("the range %.60q instead of one from %d", sent, offset)}
		}
		info.Size = size
	} else if offset > 0 {
		err = errors.New("the object store ignored the range of a request")
	}
	if err = cmp.Or(err, checkInfo(info)); err != nil {
		_ = body.Close() // the first error counts
	}
	return body, info, err
}

// parseRange returns the offset in a Content-Range, and the size of the file.
func parseRange(text string) (first, size int64, ok bool) {
	text, inBytes := strings.CutPrefix(text, "bytes ")
	piece, whole, _ := strings.Cut(text, "/")
	from, _, _ := strings.Cut(piece, "-")
	first, firstErr := strconv.ParseInt(from, 10, 64)
	size, sizeErr := strconv.ParseInt(whole, 10, 64)
	return first, size, inBytes && firstErr == nil && sizeErr == nil
}

// statEmpty describes a file that has no first byte.
func (r *remote) statEmpty(ctx context.Context, name string) (fileio.Info, error) {
	is, err := r.stat(ctx, name)
	if err == nil && is.Size > 0 {
		err = errReplaced
	}
	return infoOf(name, is), err
}

// matching adds the condition of withMatch to a request, because minio-go has no option for it. It ends
// the body of an attempt with the attempt. It
// bounds what minio-go reads of an answer that is not a file, and drops cookies.
type matching struct{ http.RoundTripper }

type matchKey struct{}

// withMatch returns a context for the DELETE of a file that must have this tag; "" = any.
func withMatch(ctx context.Context, tag string) context.Context {
	return context.WithValue(ctx, matchKey{}, tag)
}

// RoundTrip implements http.RoundTripper.
func (m matching) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if tag, _ := r.Context().Value(matchKey{}).(string); tag != "" {
		r.Header.Set("If-Match", `"`+tag+`"`)
	}
	if r.Body != nil && r.Body != http.NoBody {
		b := &body{in: r.Body}
		defer b.Close()
		r.Body = b
	}
	answer, err := m.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if err := checkAnswer(answer); err != nil {
		_, _ = io.CopyN(io.Discard, answer.Body, wordsMax) // so that the next request can use the connection
		_ = answer.Body.Close()
		return nil, err
	}
	answer.Header.Del("Set-Cookie")
	switch {
	case answer.StatusCode >= http.StatusMultipleChoices:
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, wordsMax), answer.Body}
	case r.Method != http.MethodGet:
		answer.Body = &limited{answer.Body, wordsMax}
	case r.URL.RawQuery != "":
		answer.Body = &limited{answer.Body, listMax}
	}
	return answer, nil
}
