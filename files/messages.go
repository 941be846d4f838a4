package files

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"

	"connectrpc.com/connect"

	"muster/fileio"
	"muster/files/internal/wire"
	"muster/internal/fair"
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
	o := fair.Options{
		Size:       int64(messagesMemory / 2 / (2 * m.messageMax)), // the raw and the decoded message
		WaitingMax: messagesWaitingMax, WaitMax: server.options.WaitMax, Shares: true,
	}
	m.single, m.streams = fair.New(o), fair.New(o)
	_, m.handler = wire.NewFilesHandler(m,
		connect.WithReadMaxBytes(m.messageMax),
		// Accept no compression: clients may store compressed files, and small bombs grow large.
		connect.WithCompression("gzip", nil, nil))
	return m
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

// errMessage is the error of an invalid message.
var errMessage = errors.New("cannot be understood")

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
