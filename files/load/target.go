package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync/atomic"
)

// job is one request.
type job struct {
	op     Op
	number int
	name   string // of the file

	files int64 // how many files it concerned: 1 unless link.do changes it
}

// A link is one connection, which one goroutine uses. do makes one request and checks the
// answer. Its error is a *connectionError if no answer came, and otherwise describes what is
// wrong with the answer. The link remains usable. do returns soon after the context ends.
type link interface {
	do(ctx context.Context, j *job) error
	close()
}

// A target is a server that is used by one protocol. Several goroutines may call its methods
// at the same time.
type target interface {
	// reach checks that the server accepts connections.
	reach(ctx context.Context) error
	// connect returns a link, which connects at its first request.
	connect() link
	// cleanJobs returns the requests that delete all files below Prefix.
	cleanJobs() source
}

// A source returns requests one after another, to any number of goroutines. io.EOF means that
// no further request follows. Any other error counts as a failed request and is the last one.
type source func(ctx context.Context, j *job) error

func newTarget(o Options) (target, error) {
	switch o.Protocol {
	case HTTP:
		return newHTTPTarget(o)
	case Protobuf, JSON:
		return newCallerTarget(o)
	default:
		return nil, inputf("no protocol %q: there are %v", o.Protocol, Protocols())
	}
}

// numbered returns requests 0 to n-1.
func numbered(op Op, n int) source {
	var taken atomic.Int64
	return func(_ context.Context, j *job) error {
		i := int(taken.Add(1)) - 1
		if i >= n {
			return io.EOF
		}
		*j = job{op: op, number: i, files: 1}
		if op != Bench {
			j.name = fileName(i)
		}
		return nil
	}
}

// foldersMax is the number of folders for a load's files. Most file systems are slow to write
// to a single large folder.
const foldersMax = 256

// fileName returns the name of file i. The multiplication spreads neighbours over the folders.
func fileName(i int) string {
	folder := (uint64(i) * 0x9e3779b97f4a7c15) >> 56 % foldersMax
	name := make([]byte, 0, 32)
	name = append(name, Prefix...)
	if folder < 16 {
		name = append(name, '0')
	}
	name = strconv.AppendUint(name, folder, 16)
	name = append(name, '/')
	return string(strconv.AppendInt(name, int64(i), 10))
}

// connectionError is the error of a request without an answer.
type connectionError struct{ err error }

func (c *connectionError) Error() string {
	var op *net.OpError
	if errors.As(c.err, &op) { // leave out ports, which differ between connections
		return fmt.Sprintf("no answer: %s: %v", op.Op, op.Err)
	}
	return "no answer: " + c.err.Error()
}
func (c *connectionError) Unwrap() error { return c.err }
