package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"

	"muster/fileio"
	"muster/internal/wording"
)

// triesMax is how many times a request is sent, with up to a second in between.
const triesMax = 5

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
	return r.client.StatObject(ctx, r.bucket, r.key(name), minio.StatObjectOptions{})
}

// remove removes a file, whether it exists or not.
func (r *remote) remove(ctx context.Context, key string) error {
	return r.client.RemoveObject(ctx, r.bucket, key, minio.RemoveObjectOptions{})
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

// put writes a file with one request.
func (r *remote) put(ctx context.Context, key string, data []byte, want condition, id string) (minio.UploadInfo, error) {
	return r.client.PutObject(ctx, r.bucket, key, bytes.NewReader(data), int64(len(data)), "", "", want.options(id))
}

// fetch reads the piece of a file at an offset into data, up to the file's end. If tag is not
// empty, the file must have it. A broken transfer is repeated.
func (r *remote) fetch(ctx context.Context, name, tag string, data []byte, offset int64) (info fileio.Info, n int, err error) {
	for try := 1; ; try++ {
		info, n, err = r.fetchOnce(ctx, name, tag, data, offset)
		if _, broken := errors.AsType[*brokenError](err); !broken || try == triesMax || ctx.Err() != nil {
			return info, n, err
		}
		timer := time.NewTimer(rand.N(time.Second))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// brokenError is the error of an answer that ended early.
type brokenError struct{ error }

func (r *remote) fetchOnce(ctx context.Context, name, tag string, data []byte, offset int64) (info fileio.Info, n int, err error) {
	o := minio.GetObjectOptions{}
	o.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+int64(len(data))-1))
	if tag != "" {
		o.Set("If-Match", `"`+tag+`"`)
	}
	body, is, header, err := r.client.GetObject(ctx, r.bucket, r.key(name), o)
	if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable && offset == 0 {
		return r.statEmpty(ctx, name)
	}
	if err != nil {
		return info, 0, err
	}
	defer body.Close()
	info = infoOf(name, is)
	if _, whole, ok := strings.Cut(header.Get("Content-Range"), "/"); ok {
		if info.Size, err = strconv.ParseInt(whole, 10, 64); err != nil {
			return info, 0, fmt.Errorf("the object store sent the range %q", header.Get("Content-Range"))
		}
	} else if offset > 0 {
		return info, 0, errors.New("the object store ignored the range of a request")
	}
	if tag != "" && info.Tag != tag {
		return info, 0, errReplaced
	}
	want := min(int64(len(data)), info.Size-offset)
	n, err = io.ReadFull(body, data[:want])
	if err != nil {
		return info, n, &brokenError{err}
	}
	return info, n, nil
}

// errReplaced is the error of a file that is not the one that Get opened.
var errReplaced = fmt.Errorf("the file was replaced while it was read: %w", fileio.ErrBusy)

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
	if silence, ok := errors.AsType[*url.Error](err); ok { // its words, not the error: others would take its time-out for a client's
		return fmt.Errorf("the object store at %s does not answer (%s): %w", at, wording.Of(silence.Err), fileio.ErrBusy)
	}
	if broken, ok := errors.AsType[*brokenError](err); ok {
		return fmt.Errorf("the object store at %s broke off an answer (%s): %w", at, wording.Of(broken.error), fileio.ErrBusy)
	}
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return err
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		if answer.Code == minio.NoSuchBucket {
			return fmt.Errorf("the object store at %s has no bucket %s: create it", at, r.bucket)
		}
		return fs.ErrNotExist
	case http.StatusPreconditionFailed:
		return fileio.ErrChanged
	case http.StatusConflict:
		if answer.Code == "ConditionalRequestConflict" || answer.Code == "OperationAborted" {
			return fileio.ErrChanged // another write was under way
		}
	case http.StatusForbidden, http.StatusUnauthorized:
		return fmt.Errorf("the object store at %s denies access to bucket %s (%s): check the credentials and their rights", at, r.bucket, answer.Code)
	case http.StatusInsufficientStorage:
		return syscall.ENOSPC
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInternalServerError, http.StatusRequestTimeout:
		return fmt.Errorf("the object store at %s is too busy (%s): %w", at, answer.Code, fileio.ErrBusy)
	}
	return fmt.Errorf("the object store at %s refused a request (%s): %s", at, answer.Code, answer.Message)
}

// matching adds the condition of withMatch to a request, for which the client has no option.
type matching struct{ http.RoundTripper }

type matchKey struct{}

// withMatch returns a context of a DELETE of a file that must have this tag.
func withMatch(ctx context.Context, tag string) context.Context {
	return context.WithValue(ctx, matchKey{}, tag)
}

// RoundTrip implements http.RoundTripper.
func (m matching) RoundTrip(r *http.Request) (*http.Response, error) {
	if tag, ok := r.Context().Value(matchKey{}).(string); ok {
		r = r.Clone(r.Context())
		r.Header.Set("If-Match", `"`+tag+`"`)
	}
	return m.RoundTripper.RoundTrip(r)
}
