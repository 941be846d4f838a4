package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"connectrpc.com/connect"

	"muster/fileio"
	"muster/files/internal/remotecache"
	"muster/files/internal/wire"
	"muster/internal/fair"
	"muster/internal/wording"
	"muster/pool"
)

// messagesAt is the path of the message service. Its methods are below it.
const messagesAt = "/" + wire.FilesName + "/"

// messages implements the methods of wire.Files, in protobuf or JSON, depending on the content
// type.
type messages struct {
	server     *Server
	handler    http.Handler
	page       int // bytes of a file in a message
	messageMax int // bytes of a message
	// single and streams are places of requests: of single messages, and of streams, which may
	// take long.
	single, streams *fair.Budget
}

// messagesMemory is how many bytes messages may take at the same time: one half in requests of
// one message, some 170 of them with pages of 64 KiB, and one half in as many streams. Further
// requests wait unread, up to messagesWaitingMax of each kind.
const (
	messagesMemory     = 64 << 20
	messagesWaitingMax = 1 << 14
)

func newMessages(server *Server, page int) *messages {
	m := &messages{server: server, page: page, messageMax: messageMax(page)}
	o := m.waiting()
	o.Size = int64(messagesMemory / 2 / (2 * m.messageMax)) // the raw and the decoded message
	m.single, m.streams = fair.New(o), fair.New(o)
	_, m.handler = wire.NewFilesHandler(m,
		connect.WithReadMaxBytes(m.messageMax),
		// Accept no compression: clients may store compressed files, and small bombs grow large.
		connect.WithCompression("gzip", nil, nil))
	return m
}

// waiting returns the options of places for messages, without their number.
func (m *messages) waiting() fair.Options {
	return fair.Options{WaitingMax: messagesWaitingMax, WaitMax: m.server.options.WaitMax, Shares: true}
}

// newCache serves the Remote Execution API, whose requests share the places of messages.
func (m *messages) newCache() *remotecache.Cache {
	return remotecache.New(m.server.store, remotecache.Options{
		BlobMax: m.server.options.BodyMax, Single: m.single, Streams: m.streams, Large: m.waiting(), Fail: m.answerError,
	})
}

// messageMax returns the largest size of a message with one page, in bytes. JSON encodes three
// bytes in four letters. Messages with the clients' default page always fit.
func messageMax(page int) int {
	return max(page, pageDefault)*4/3 + 8<<10
}

func (m *messages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	places := m.streams
	if method := strings.TrimPrefix(r.URL.Path, messagesAt); method != "Upload" && method != "Download" {
		// Do not read an oversized single message to its end, which may never come.
		r.Body = http.MaxBytesReader(w, r.Body, int64(m.messageMax))
		places = m.single
	}
	client := fair.ClientOf(r.Context())
	if err := places.Take(r.Context(), client); err != nil {
		m.server.fail(w, r, err)
		return
	}
	defer places.Give(client, 1)
	m.handler.ServeHTTP(w, r)
}

func (m *messages) Exist(ctx context.Context, r *connect.Request[wire.ExistRequest]) (*connect.Response[wire.ExistResponse], error) {
	info, err := m.server.store.Stat(ctx, r.Msg.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return connect.NewResponse(&wire.ExistResponse{}), nil
	case err != nil:
		return nil, m.answerError(r.Spec().Procedure, err)
	}
	return connect.NewResponse(&wire.ExistResponse{Exists: true, Size: info.Size}), nil
}

func (m *messages) Delete(ctx context.Context, r *connect.Request[wire.DeleteRequest]) (*connect.Response[wire.DeleteResponse], error) {
	if err := m.server.store.Delete(ctx, r.Msg.Name, nil); err != nil {
		return nil, m.answerError(r.Spec().Procedure, err)
	}
	return connect.NewResponse(&wire.DeleteResponse{}), nil
}

func (m *messages) Clean(ctx context.Context, r *connect.Request[wire.CleanRequest]) (*connect.Response[wire.CleanResponse], error) {
	deleted, err := m.server.clean(ctx, r.Msg.Prefix)
	if err != nil {
		return nil, m.answerError(r.Spec().Procedure, err)
	}
	return connect.NewResponse(&wire.CleanResponse{Deleted: deleted}), nil
}

// deleteWorkers is how many files are deleted at the same time.
const deleteWorkers = 8

// clean deletes the files whose names begin with prefix and returns their number.
func (s *Server) clean(ctx context.Context, prefix string) (int64, error) {
	if prefix == "" {
		return 0, errNoPrefix
	}
	var deleted atomic.Int64
	after := ""
	for {
		infos, more, err := s.store.List(ctx, prefix, after, fileio.ListMax)
		if err != nil {
			return 0, err
		}
		err = pool.ForEach(ctx, deleteWorkers, infos, func(ctx context.Context, i fileio.Info) error {
			err := s.store.Delete(ctx, i.Name, nil)
			if errors.Is(err, fs.ErrNotExist) {
				return nil // another client has deleted it
			}
			if err == nil {
				deleted.Add(1)
			}
			return err
		})
		if err != nil || !more {
			return deleted.Load(), err
		}
		if len(infos) > 0 {
			after = infos[len(infos)-1].Name
		}
	}
}

func (m *messages) Bench(_ context.Context, r *connect.Request[wire.BenchRequest]) (*connect.Response[wire.BenchResponse], error) {
	if len(r.Msg.Message) > benchMax {
		return nil, m.answerError(r.Spec().Procedure, &http.MaxBytesError{Limit: benchMax})
	}
	return connect.NewResponse(&wire.BenchResponse{Message: r.Msg.Message}), nil
}

// retryAfter is the pause in seconds that a refused client is asked for.
const retryAfter = 1

// fail answers a request with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, _ := answerTo(err)
	switch status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	case http.StatusInternalServerError, http.StatusInsufficientStorage:
		s.options.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", wording.Of(err))
	}
	http.Error(w, wording.Of(err), status)
}

// answerTo returns the answer to an error: the status of HTTP, and the code of the message service.
func answerTo(err error) (status int, code connect.Code) {
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	_, fromClient := errors.AsType[*clientError](err)
	switch {
	case errors.Is(err, fileio.ErrName), errors.Is(err, fileio.ErrSize), errors.Is(err, errInput), errors.Is(err, errDigest):
		return http.StatusBadRequest, connect.CodeInvalidArgument
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound, connect.CodeNotFound
	case errors.Is(err, fileio.ErrChanged):
		return http.StatusPreconditionFailed, connect.CodeAborted
	case tooLarge:
		return http.StatusRequestEntityTooLarge, connect.CodeResourceExhausted
	case errors.Is(err, os.ErrDeadlineExceeded): // of the connection
		return http.StatusRequestTimeout, connect.CodeDeadlineExceeded
	case errors.Is(err, fileio.ErrBusy), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE): // also of a step that the server itself ended
		return http.StatusServiceUnavailable, connect.CodeUnavailable
	case fromClient, errors.Is(err, context.Canceled): // the client has most likely gone
		return http.StatusBadRequest, connect.CodeCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, connect.CodeDeadlineExceeded
	case errors.Is(err, errors.ErrUnsupported):
		return http.StatusNotImplemented, connect.CodeUnimplemented
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return http.StatusInsufficientStorage, connect.CodeResourceExhausted
	}
	return http.StatusInternalServerError, connect.CodeInternal
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

var (
	errNoPrefix = fmt.Errorf("no prefix: %w: this would delete all files", errInput)
	errNoName   = fmt.Errorf("the first message has no name: %w", errInput)
	errTwoNames = fmt.Errorf("a message that is not the first has a name or a size: %w", errInput)
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
	status, code := answerTo(err)
	if status == http.StatusInternalServerError || status == http.StatusInsufficientStorage {
		m.server.options.Log.Error("a request failed", "path", procedure, "error", wording.Of(err))
	}
	// The client knows the operation and the name.
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	answer := connect.NewError(code, errors.New(wording.Of(err)))
	if code == connect.CodeUnavailable {
		answer.Meta().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	return answer
}
