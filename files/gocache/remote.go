package gocache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"muster/fileio"
	"muster/files"
)

// remote is the cache at the server. After an error other than a missing or refused file it is
// left out: its context ends, so that requests in progress end too.
type remote struct {
	client  *files.Client
	url     string
	timeout time.Duration

	ctx      context.Context
	leaveOut context.CancelFunc

	warned sync.Once
	report func(error)

	onlyReads atomic.Bool // the server takes nothing with this token
	wrong     sync.Map    // digests of outputs whose content at the server is not theirs
}

func newRemote(ctx context.Context, o Options) *remote {
	r := &remote{client: o.Client, url: strings.TrimRight(o.URL, "/"), timeout: o.Timeout, report: o.Warn}
	r.ctx, r.leaveOut = context.WithCancel(ctx)
	return r
}

// warn reports the first of several errors.
func (r *remote) warn(err error) { r.warned.Do(func() { r.report(err) }) }

// rateMin is how many bytes a second of a content must arrive.
const rateMin = 256 << 10

// limit bounds the time of a request that transfers size bytes.
func (r *remote) limit(size int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.ctx, r.timeout+time.Duration(float64(size)/rateMin*float64(time.Second)))
}

func (r *remote) address(kind string, d digest) string { return r.url + "/" + kind + "/" + d.String() }

// record returns the record of an action. Without one, ok is false.
func (r *remote) record(action digest) (found record, ok bool) {
	if r.ctx.Err() != nil {
		return found, false
	}
	within, cancel := r.limit(0)
	defer cancel()
	content, err := r.client.Get(within, r.address("a", action), "")
	if err != nil {
		r.judge(err)
		return found, false
	}
	defer content.Close()
	text, err := io.ReadAll(io.LimitReader(content, recordMax))
	if err != nil {
		r.judge(err)
		return found, false
	}
	return parseRecord(text)
}

// output calls store with the content of a record's output, and reports whether that succeeded.
func (r *remote) output(of record, store func(io.Reader) error) bool {
	within, cancel := r.limit(of.size)
	defer cancel()
	content, err := r.client.Get(within, r.address("o", of.output), "")
	if err != nil {
		r.judge(err)
		return false
	}
	defer content.Close()
	body := &observedReader{Reader: content}
	err = store(body)
	if errors.Is(err, errContent) {
		r.wrong.Store(of.output, true)
		r.warn(fmt.Errorf("%s has other content than its name says: it is built and sent again", r.address("o", of.output)))
	}
	r.judge(body.err) // other errors are the local disk's
	return err == nil
}

// observedReader keeps the error of a reader.
type observedReader struct {
	io.Reader
	err error
}

func (o *observedReader) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if err != io.EOF {
		o.err = err
	}
	return n, err
}

// put sends an output, unless the server has the right one, and then the record of its action. So a record
// at the server follows its output.
func (r *remote) put(one output, path string) (sent bool) {
	if r.ctx.Err() != nil || r.onlyReads.Load() {
		return false
	}
	within, cancel := r.limit(one.record.size)
	defer cancel()
	file, err := os.Open(path)
	if err != nil {
		return false // the local disk's own trouble
	}
	defer file.Close()
	_, isWrong := r.wrong.Load(one.record.output)
	_, err = r.client.Put(within, r.address("o", one.record.output), file, one.record.size, files.Condition{IfNoneMatchAll: !isWrong})
	if status := (*files.StatusError)(nil); errors.As(err, &status) && status.Status == http.StatusForbidden {
		r.onlyReads.Store(true)
		return false
	}
	if err != nil && !errors.Is(err, fileio.ErrChanged) {
		r.judge(err)
		return false
	}
	text := one.record.text()
	_, err = r.client.Put(within, r.address("a", one.action), strings.NewReader(text), int64(len(text)), files.Condition{})
	r.judge(err)
	return err == nil
}

// judge warns of an error, and leaves the server out unless the error is about one file.
func (r *remote) judge(err error) {
	status := (*files.StatusError)(nil)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist), r.ctx.Err() != nil:
		return
	case errors.Is(err, syscall.ENOSPC), errors.As(err, &status) && status.Status == http.StatusRequestEntityTooLarge:
		r.warn(fmt.Errorf("the server does not take all files: %w", err))
		return
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%s did not answer within %v", r.url, r.timeout)
	}
	r.leaveOut()
	r.warn(fmt.Errorf("this build goes on without the server: %w", err))
}
