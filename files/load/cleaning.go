package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"sync"

	"muster/files"
)

// cleaning lists the files below Prefix, and has each deleted. Names are looked at once more:
// nothing else may go, whatever the server lists.
func (t *httpTarget) cleaning() source {
	var (
		mutex sync.Mutex
		next  func() (files.Entry, error, bool)
		stop  = func() {}
		ended bool
		taken int
	)
	return func(ctx context.Context, j *job) error {
		mutex.Lock()
		defer mutex.Unlock()
		if next == nil { // the context is that of the load, for all alike
			next, stop = iter.Pull2(t.client.List(ctx, t.server, Prefix))
		}
		if ended {
			return io.EOF
		}
		entry, err, ok := next()
		switch {
		case !ok:
			err = io.EOF
		case err != nil:
			err = listError(err)
		case !strings.HasPrefix(entry.Name, Prefix):
			err = fmt.Errorf("the server lists %q among the files below %s: nothing more is deleted", entry.Name, Prefix)
		}
		if err != nil {
			ended = true
			stop()
			return err
		}
		*j = job{op: Clean, number: taken, name: (&url.URL{Path: entry.Name}).EscapedPath(), files: 1}
		taken++
		return nil
	}
}

// listError tells a server that answers from one that is not there.
func listError(err error) error {
	if refused := (*files.StatusError)(nil); errors.As(err, &refused) {
		return err
	}
	return &connectionError{err}
}
