package place

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"muster/files"
	"muster/internal/wording"
	"muster/regress/internal/fault"
)

// server is a file at an address of a file server.
type server struct {
	address string
	client  *files.Client
}

func (s *server) get(ctx context.Context, tag string) (*files.Content, error) {
	return s.client.Get(ctx, s.address, tag)
}

func (s *server) put(ctx context.Context, body io.ReaderAt, size int64, want files.Condition) (string, error) {
	return s.client.Put(ctx, s.address, body, size, want)
}

func (s *server) classify(err error) error {
	var answer *files.StatusError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, files.ErrPlainToken):
		return fault.Inputf("%w: use https, or set MUSTER_TOKEN_PLAIN=1 where the network is trusted", err)
	case wording.RefusedTLS(err):
		return fault.Environmentf("%w", err)
	case !errors.As(err, &answer):
		return fault.Environmentf("%w: is the server running there, and reachable?", err)
	}
	switch status := answer.Status; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.Inputf("%w: set MUSTER_TOKEN to the server's token", err)
	case status == http.StatusNotFound && !strings.Contains(s.address, filesAt):
		// Not %w: a missing golden that is to be made gives the same error, but this is a mistake
		// of the user.
		return fault.Inputf("%v: muster serve has its files below %s, as in http://HOST%sNAME", err, filesAt, filesAt)
	case status == http.StatusInsufficientStorage:
		return fault.Environmentf("%w: the server has no room", err)
	case status >= 500, status == http.StatusRequestEntityTooLarge, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return fault.Environmentf("%w", err)
	}
	return fault.Inputf("%w", err)
}

// filesAt is the path prefix of all files of a server.
const filesAt = "/files/"
