package files_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/test/kits/enginetest"
)

// failing is a store whose methods return an error.
type failing struct {
	*fileio.Store
	err error
}

func (f *failing) Put(context.Context, string, io.Reader, int64, fileio.Condition) (fileio.Info, error) {
	return fileio.Info{}, f.err
}
func (f *failing) Get(context.Context, string) (*fileio.File, error)      { return nil, f.err }
func (f *failing) Stat(context.Context, string) (fileio.Info, error)      { return fileio.Info{}, f.err }
func (f *failing) Delete(context.Context, string, fileio.Condition) error { return f.err }
func (f *failing) List(context.Context, string, string, int) ([]fileio.Info, bool, error) {
	return nil, false, f.err
}

// Every kind of error has the same answer by every method. Of an error of two kinds, the one that a client can
// do something about counts.
func TestErrors(t *testing.T) {
	s := &failing{Store: enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{})}
	server := httptest.NewServer(files.NewServer(s, files.Options{}))
	defer server.Close()
	for _, c := range []struct {
		err    error
		status int
		code   string // of the message service
	}{
		{fileio.ErrName, 400, "invalid_argument"},
		{fileio.ErrSize, 400, "invalid_argument"},
		{&fs.PathError{Op: "get", Path: "x", Err: fs.ErrNotExist}, 404, "not_found"},
		{fileio.ErrChanged, 412, "aborted"},
		{context.Canceled, 400, "canceled"},
		{fileio.ErrBusy, 503, "unavailable"},
		{syscall.EMFILE, 503, "unavailable"},
		{context.DeadlineExceeded, 503, "deadline_exceeded"},
		{os.ErrDeadlineExceeded, 408, "deadline_exceeded"},
		{errors.ErrUnsupported, 501, "unimplemented"},
		{syscall.ENOSPC, 507, "resource_exhausted"},
		{syscall.EDQUOT, 507, "resource_exhausted"},
		{errors.New("broken"), 500, "internal"},
		{syscall.EIO, 500, "internal"},
		{fmt.Errorf("%w: %w", fileio.ErrBusy, context.Canceled), 503, "unavailable"},
		{fmt.Errorf("%w: %w", context.DeadlineExceeded, fileio.ErrBusy), 503, "unavailable"},
		{fmt.Errorf("%w: %w", fileio.ErrBusy, errors.ErrUnsupported), 503, "unavailable"},
		{fmt.Errorf("%w: %w", fileio.ErrBusy, syscall.ENOSPC), 503, "unavailable"},
		{fmt.Errorf("%w: %w", fileio.ErrBusy, fs.ErrNotExist), 404, "not_found"},
		{fmt.Errorf("%w: %w", context.Canceled, context.DeadlineExceeded), 400, "canceled"},
		{fmt.Errorf("%w: %w", context.Canceled, syscall.ENOSPC), 400, "canceled"},
	} {
		s.err = c.err
		for _, r := range [][2]string{{"GET", "/files/x"}, {"PUT", "/files/x"}, {"DELETE", "/files/x"}, {"GET", "/files/"}, {"PROPFIND", "/files/x"}} {
			got := ask(t, r[0], server.URL+r[1], strings.NewReader(""), "Depth", "0")
			if got.status != c.status || (got.status == 503) != (got.header.Get("Retry-After") != "") {
				t.Errorf("%v: %s %s: %d, Retry-After %q, want %d", c.err, r[0], r[1], got.status, got.header.Get("Retry-After"), c.status)
			}
		}
		for _, method := range []string{"Delete", "Clean", "Exist"} {
			status, got := unary(t, server.URL, method, `{"name":"x","prefix":"x"}`)
			if method == "Exist" && errors.Is(c.err, fs.ErrNotExist) {
				continue
			}
			if got["code"] != c.code {
				t.Errorf("%v: %s: %d %v, want %s", c.err, method, status, got, c.code)
			}
		}
	}
}
