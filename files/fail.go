package files

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"syscall"

	"muster/fileio"
	"muster/internal/wording"
)

// retryAfter is the pause in seconds that a refused client is asked for.
const retryAfter = 1

// fail answers a request with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	switch status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	case http.StatusInternalServerError, http.StatusInsufficientStorage:
		s.options.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", wording.Of(err))
	}
	http.Error(w, wording.Of(err), status)
}

func statusOf(err error) int {
	var tooLarge *http.MaxBytesError
	var client *clientError
	switch {
	case errors.Is(err, fileio.ErrName), errors.Is(err, fileio.ErrSize), errors.Is(err, errHeader), errors.Is(err, errDigest):
		return http.StatusBadRequest
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, fileio.ErrChanged):
		return http.StatusPreconditionFailed
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded): // of the connection
		return http.StatusRequestTimeout
	case errors.As(err, &client), errors.Is(err, context.Canceled): // the client has most likely gone
		return http.StatusBadRequest
	case errors.Is(err, fileio.ErrBusy), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return http.StatusServiceUnavailable
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError
}

// abortBroken aborts the connection if err is not nil. The answer has begun and cannot be
// completed, and the client must not take a part for the whole.
func (s *Server) abortBroken(r *http.Request, err error) {
	if err == nil {
		return
	}
	if gone := (*clientError)(nil); !errors.As(err, &gone) && r.Context().Err() == nil {
		s.options.Log.Error("an answer was broken off", "method", r.Method, "path", r.URL.Path, "error", wording.Of(err))
	}
	panic(http.ErrAbortHandler)
}
