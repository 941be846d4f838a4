package bucket

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"

	"muster/fileio"
	"muster/internal/readable"
	"muster/internal/wording"
)

// A peer is a bucket as errors name it.
type peer struct{ host, bucket string }

// requestMax is how long a request to the object store may take, with its repetitions.
const requestMax = 2 * time.Minute

// explain converts an error of the object store.
func (p peer) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errNoCredentials) { // those of a role have expired, and may be renewed later
		return fmt.Errorf("%w: %w", err, fileio.ErrBusy)
	}
	at := p.host
	if errors.Is(err, context.DeadlineExceeded) { // requestMax, not the client's
		return fmt.Errorf("the object store at %s takes more than %s: %w", at, readable.Duration(requestMax), fileio.ErrBusy)
	}
	silence, ok := errors.AsType[*url.Error](err)
	_, isText := errors.AsType[*xml.SyntaxError](err)
	if isText || isBroken(err) || !ok && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return fmt.Errorf("the object store at %s sent a broken answer (%s): %w", at, wording.Of(err), fileio.ErrBusy)
	}
	if ok && wording.RefusedTLS(err) { // repetitions do not help
		return fmt.Errorf("the object store at %s (--endpoint or AWS_ENDPOINT_URL): %s", at, wording.Of(silence.Err))
	}
	if ok { // not wrapped: callers would take its time-out for the client's
		return &wordedError{fmt.Sprintf("the object store at %s does not answer (%s): check that it runs, and its address (--endpoint or AWS_ENDPOINT_URL)", at, wording.Of(silence.Err)), fileio.ErrBusy}
	}
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return err
	}
	// The code counts before the status: a store may begin to answer 200 before it completes an upload.
	switch answer.Code {
	case minio.NoSuchBucket:
		return fmt.Errorf("the object store at %s has no bucket %s: create it", at, p.bucket)
	case minio.PreconditionFailed, "ConditionalRequestConflict": // the second one: another write was under way
		return fileio.ErrChanged
	case minio.NoSuchUpload, minio.InternalError, "ServiceUnavailable", "SlowDown", "OperationAborted", "RequestTimeout", "Throttling":
		answer.StatusCode = http.StatusServiceUnavailable
	case "XAdminUserNotFound": // versitygw's, with 404
		answer.StatusCode = http.StatusForbidden
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return fs.ErrNotExist
	case http.StatusPreconditionFailed:
		return fileio.ErrChanged
	case http.StatusInsufficientStorage:
		return syscall.ENOSPC
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInternalServerError, http.StatusRequestTimeout:
		return fmt.Errorf("the object store at %s is too busy (%.60q): %w", at, answer.Code, fileio.ErrBusy)
	}
	return fmt.Errorf("the object store at %s denies access to bucket %s (%.60q, %.200q): check the credentials and their rights, --endpoint or AWS_ENDPOINT_URL, AWS_REGION and the clock", at, p.bucket, answer.Code, answer.Message)
}

// A wordedError has a text of its own, and is another error for errors.Is.
type wordedError struct {
	text string
	is   error
}

func (e *wordedError) Error() string { return e.text }

// Is implements the interface of errors.Is.
func (e *wordedError) Is(target error) bool { return target == e.is }

// errReplaced is the error of a file that is not the one that Get opened.
var errReplaced = fmt.Errorf("the file was replaced while it was read: %w", fileio.ErrBusy)

// brokenError is the error of an answer that ended early or makes no sense.
type brokenError struct{ error }

func broken(text string) error { return &brokenError{errors.New(text)} }

func isBroken(err error) bool {
	_, ok := errors.AsType[*brokenError](err)
	return ok
}

const (
	// listMax bounds a list, in bytes. A list of 1,000 of the longest names is shorter.
	listMax = 8 << 20
	// wordsMax bounds an answer that is neither a file nor a list, in bytes. minio-go reads it into memory.
	wordsMax = 64 << 10
)

// errTooLong is the error of an answer beyond these bounds. The text of an error is cut off instead,
// because its status suffices.
var errTooLong = broken("it is too long")

// checkAnswer refuses an answer that minio-go would accept.
func checkAnswer(answer *http.Response) error {
	switch {
	case answer.StatusCode == http.StatusPartialContent && answer.Header.Get("Content-Range") == "": // it could be taken for the whole file
		return broken("a piece of a file without its range")
	case answer.StatusCode < http.StatusMultipleChoices && strings.HasPrefix(answer.Header.Get("Etag"), "W/"):
		// No condition holds for a weak ETag (RFC 9110, 8.8.3.2). Object stores send strong ones, but a
		// proxy that compresses answers makes them weak.
		return broken("a weak ETag: let no proxy change its answers")
	}
	return nil
}

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
