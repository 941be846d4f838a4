package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"syscall"

	"connectrpc.com/connect"

	"muster/fileio"
	"muster/internal/wording"
)

var (
	errNoPrefix = fmt.Errorf("no prefix: %w: this would delete all files", errMessage)
	errNoName   = fmt.Errorf("the first message has no name: %w", errMessage)
	errSlow     = errors.New("the client took too long for a piece of its file")
	errTwoNames = fmt.Errorf("a message that is not the first has a name or a size: %w", errMessage)
)

// answerError converts an error to the service's answer.
func (m *messages) answerError(procedure string, err error) error {
	// A message did not arrive in time.
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return connect.NewError(connect.CodeDeadlineExceeded, errSlow)
	}
	if connectError, ok := errors.AsType[*connect.Error](err); ok {
		return connectError
	}
	code := codeOf(err)
	if code == connect.CodeInternal || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		m.server.options.Log.Error("a request failed", "path", procedure, "error", wording.Of(err))
	}
	// The client knows the operation and the name.
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	answer := connect.NewError(code, err)
	if code == connect.CodeUnavailable {
		answer.Meta().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	return answer
}

// codeOf is the counterpart of statusOf for messages.
func codeOf(err error) connect.Code {
	switch {
	case errors.Is(err, fileio.ErrName), errors.Is(err, fileio.ErrSize), errors.Is(err, errMessage):
		return connect.CodeInvalidArgument
	case errors.Is(err, fs.ErrNotExist):
		return connect.CodeNotFound
	case errors.Is(err, fileio.ErrChanged):
		return connect.CodeAborted
	case errors.Is(err, fileio.ErrBusy), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return connect.CodeUnavailable
	case errors.Is(err, context.Canceled):
		return connect.CodeCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return connect.CodeDeadlineExceeded
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return connect.CodeResourceExhausted
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return connect.CodeResourceExhausted
	}
	return connect.CodeInternal
}
