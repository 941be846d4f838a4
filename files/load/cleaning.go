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

// cleanJobs lists the files below Prefix and returns a job to delete each. It checks the
// prefix again: whatever the server lists, no other file may be deleted.
func (t *httpTarget) cleanJobs() source {
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
		if next == nil { // all calls have the same context, the load's
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

// listError distinguishes a server that answers from one that is unreachable.
func listError(err error) error {
	if refused := (*files.StatusError)(nil); errors.As(err, &refused) {
		return err
	}
	return &connectionError{err}
}
