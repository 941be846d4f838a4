package bucket

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"

	"muster/fileio"
	"muster/internal/wording"
)

// requestMax is how long a request to the object store may take, with its repetitions.
const requestMax = 2 * time.Minute

// connectionsMax is how many requests to the object store run at the same time.
const connectionsMax = 64

// A remote is a bucket at its object store, without limits on who uses it.
type remote struct {
	client         *minio.Core
	http           *http.Transport
	bucket, prefix string // prefix ends with a slash, or is empty
}

func (r *remote) key(name string) string { return r.prefix + name }

// stat describes a file.
func (r *remote) stat(ctx context.Context, name string) (minio.ObjectInfo, error) {
	var is minio.ObjectInfo
	err := r.repeat(ctx, func(ctx context.Context) (err error) {
		is, err = r.client.StatObject(ctx, r.bucket, r.key(name), minio.StatObjectOptions{})
		if err == nil {
			err = checkInfo(infoOf(name, is))
		}
		return err
	})
	return is, err
}

// checkInfo refuses an answer without a size, or without the tag that conditions and pieces need.
func checkInfo(i fileio.Info) error {
	if i.Size < 0 || i.Tag == "" {
		return errNoTag
	}
	return nil
}

var errNoTag error = &brokenError{errors.New("a file without size or ETag")}

// remove removes a file that has a tag, or any or none if match is empty. lost reports whether
// it may be removed despite the error.
func (r *remote) remove(ctx context.Context, key, match string) (lost bool, err error) {
	err = r.repeat(ctx, func(ctx context.Context) error {
		err := r.client.RemoveObject(withMatch(ctx, match), r.bucket, key, minio.RemoveObjectOptions{})
		lost = lost || err != nil && !settled(err)
		return err
	})
	return lost, err
}

func infoOf(name string, o minio.ObjectInfo) fileio.Info {
	return fileio.Info{Name: name, Size: o.Size, Changed: o.LastModified, Tag: o.ETag}
}

// A condition is a state of a file in which the object store changes it. The zero value is any
// state.
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

// put writes a file with one request, and returns its tag.
func (r *remote) put(ctx context.Context, key string, data []byte, want condition, id string) (tag string, err error) {
	err = r.repeat(ctx, func(ctx context.Context) (err error) {
		tag, err = r.putOnce(ctx, key, data, want, id)
		return err
	})
	return tag, err
}

func (r *remote) putOnce(ctx context.Context, key string, data []byte, want condition, id string) (tag string, err error) {
	b := newBody(data)
	defer b.Close()
	done, err := r.client.PutObject(ctx, r.bucket, key, b, b.size, "", "", want.options(id))
	return done.ETag, err
}

// putCarefully is like put without a condition, for an object store that obeys conditions. An
// attempt that got no answer may be executed later, even after its repetition and somebody
// else's write. So a repetition looks for the file first, and replaces only what it saw. The
// first attempt alone can come late.
func (r *remote) putCarefully(ctx context.Context, key string, data []byte, id string) (tag string, err error) {
	lost := false
	err = r.repeat(ctx, func(ctx context.Context) (err error) {
		var want condition
		if lost {
			is, err := r.client.StatObject(ctx, r.bucket, key, minio.StatObjectOptions{})
			switch {
			case err == nil && is.UserMetadata[writeKey] == id:
				tag = is.ETag
				return nil
			case err == nil && is.ETag != "":
				want.match = is.ETag
			case errors.Is(r.explain(ctx, err), fs.ErrNotExist):
				want.absent = true
			default:
				return cmp.Or(err, errNoTag)
			}
		}
		tag, err = r.putOnce(ctx, key, data, want, id)
		lost = lost || err != nil && !settled(err)
		if why := r.explain(ctx, err); lost && (errors.Is(why, fileio.ErrChanged) || errors.Is(why, fs.ErrNotExist)) {
			return errRaced
		}
		return err
	})
	return tag, err
}

// settled reports whether a request that failed was certainly not executed.
func settled(err error) bool {
	status := minio.ToErrorResponse(err).StatusCode
	return status/100 == 4 || status == http.StatusServiceUnavailable
}

// errRaced is the error of a write without a condition, while others wrote.
var errRaced = fmt.Errorf("others change the file all the time: %w", fileio.ErrBusy)

// fetch reads the first bytes of a file into data, up to the file's end.
func (r *remote) fetch(ctx context.Context, name string, data []byte) (info fileio.Info, n int, err error) {
	err = r.repeat(ctx, func(ctx context.Context) error {
		var body io.ReadCloser
		if body, info, err = r.open(ctx, name, "", 0, int64(len(data))); err != nil {
			return err
		}
		defer body.Close()
		n = int(min(int64(len(data)), info.Size))
		return readFull(body, data[:n])
	})
	if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return r.statEmpty(ctx, name)
	}
	return info, n, err
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

// brokenError is the error of an answer that ended early or makes no sense.
type brokenError struct{ error }

// open requests up to n bytes of a file from an offset on. If tag is not empty, the file must
// have it.
func (r *remote) open(ctx context.Context, name, tag string, offset, n int64) (body io.ReadCloser, info fileio.Info, err error) {
	o := minio.GetObjectOptions{}
	o.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+n-1))
	if tag != "" {
		o.Set("If-Match", `"`+tag+`"`)
	}
	body, is, header, err := r.client.GetObject(ctx, r.bucket, r.key(name), o)
	if err != nil {
		return nil, info, err
	}
	info = infoOf(name, is)
	if sent := header.Get("Content-Range"); sent != "" {
		var first, last int64
		if _, e := fmt.Sscanf(sent, "bytes %d-%d/%d", &first, &last, &info.Size); e != nil || first != offset || info.Size < offset {
			err = &brokenError{fmt.Errorf("the range %.60q instead of one from %d", sent, offset)}
		}
	} else if offset > 0 {
		err = errors.New("the object store ignored the range of a request")
	}
	if err = cmp.Or(err, checkInfo(info)); err != nil {
		_ = body.Close() // the first error counts
	}
	return body, info, err
}

// errReplaced is the error of a file that is not the one that Get opened.
var errReplaced = fmt.Errorf("the file was replaced while it was read: %w", fileio.ErrBusy)

// errNoUpload is the error of an upload that the object store does not know any more.
var errNoUpload = fmt.Errorf("the object store lost the parts of the file: %w", fileio.ErrBusy)

// statEmpty describes a file that has no first byte.
func (r *remote) statEmpty(ctx context.Context, name string) (fileio.Info, int, error) {
	is, err := r.stat(ctx, name)
	if err == nil && is.Size > 0 {
		err = errReplaced
	}
	return infoOf(name, is), 0, err
}

// explain converts an error of the object store.
func (r *remote) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	at := r.client.EndpointURL().Host
	if errors.Is(err, context.DeadlineExceeded) { // requestMax, not the client's
		return fmt.Errorf("the object store at %s takes more than %v: %w", at, requestMax, fileio.ErrBusy)
	}
	if refused := tlsError(at, err); refused != nil {
		return refused
	}
	if silence, ok := errors.AsType[*url.Error](err); ok { // its words, not the error: others would take its time-out for a client's
		return fmt.Errorf("the object store at %s does not answer (%s): %w", at, wording.Of(silence.Err), fileio.ErrBusy)
	}
	if broken, ok := errors.AsType[*brokenError](err); ok {
		return fmt.Errorf("the object store at %s sent a broken answer (%s): %w", at, wording.Of(broken.error), fileio.ErrBusy)
	}
	if _, ok := errors.AsType[*xml.SyntaxError](err); ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the object store at %s sent a broken answer: %w", at, fileio.ErrBusy)
	}
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return err
	}
	if s := answer.StatusCode; s == 0 || s == http.StatusOK || s == http.StatusBadRequest || s == http.StatusConflict {
		answer.StatusCode = cmp.Or(statusOf(answer.Code), s)
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		switch answer.Code {
		case minio.NoSuchBucket:
			return fmt.Errorf("the object store at %s has no bucket %s: create it", at, r.bucket)
		case minio.NoSuchUpload:
			return errNoUpload
		}
		return fs.ErrNotExist
	case http.StatusPreconditionFailed:
		return fileio.ErrChanged
	case http.StatusConflict:
		if answer.Code == "ConditionalRequestConflict" {
			return fileio.ErrChanged // another write was under way
		}
	case http.StatusForbidden, http.StatusUnauthorized:
		return fmt.Errorf("the object store at %s denies access to bucket %s (%.60q): check the credentials and their rights", at, r.bucket, answer.Code)
	case http.StatusInsufficientStorage:
		return syscall.ENOSPC
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInternalServerError, http.StatusRequestTimeout:
		return fmt.Errorf("the object store at %s is too busy (%.60q): %w", at, answer.Code, fileio.ErrBusy)
	}
	return fmt.Errorf("the object store at %s refused a request (%.60q): %.200q", at, answer.Code, answer.Message)
}

// statusOf returns the status of an error whose own is missing or wrong, or 0: a store may begin
// to answer before it completes an upload. Amazon's calls its time-outs bad requests, and its
// refusal to execute two changes at once a conflict.
func statusOf(code string) int {
	switch code {
	case minio.PreconditionFailed:
		return http.StatusPreconditionFailed
	case "ConditionalRequestConflict":
		return http.StatusConflict
	case minio.NoSuchUpload:
		return http.StatusNotFound
	case minio.InternalError, "ServiceUnavailable", "SlowDown", "OperationAborted", "RequestTimeout", "Throttling":
		return http.StatusServiceUnavailable
	}
	return 0
}

// matching adds the condition of withMatch to a request, for which the client has no option. It
// bounds what the client reads of an answer that is not a file, and what it keeps of it.
type matching struct{ http.RoundTripper }

type matchKey struct{}

// withMatch returns a context of a DELETE of a file that must have this tag; "" = any.
func withMatch(ctx context.Context, tag string) context.Context {
	return context.WithValue(ctx, matchKey{}, tag)
}

// RoundTrip implements http.RoundTripper.
func (m matching) RoundTrip(r *http.Request) (*http.Response, error) {
	if tag, _ := r.Context().Value(matchKey{}).(string); tag != "" {
		r = r.Clone(r.Context())
		r.Header.Set("If-Match", `"`+tag+`"`)
	}
	answer, err := m.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Header.Del("Set-Cookie")
	if r.Method != http.MethodGet || r.URL.RawQuery != "" || answer.StatusCode >= http.StatusMultipleChoices {
		answer.Body = &limited{answer.Body, wordsMax}
	}
	return answer, nil
}

// wordsMax is more than a list of 1,000 of the longest names.
const wordsMax = 8 << 20

var errTooLong error = &brokenError{fmt.Errorf("more than %d MiB", wordsMax>>20)}

type limited struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
