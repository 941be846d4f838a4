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

	files int64 // that it concerned; whoever does it may set another number than 1
}

// A link is one connection, which one goroutine uses. do makes one request and compares
// what is answered. Its error is a *connectionError where no answer came, else in words
// what was wrong with it; the link can be used again in either case. After the context
// has ended do returns soon.
type link interface {
	do(ctx context.Context, j *job) error
	close()
}

// A target is a server, asked by one protocol. All methods may be called by several
// goroutines at the same time.
type target interface {
	// reach reports whether there is somebody.
	reach(ctx context.Context) error
	// connect returns a link whose connection the first request makes.
	connect() link
	// cleaning returns the requests that take away all files below Prefix.
	cleaning() source
}

// A source hands out requests one after another, to any number of goroutines; io.EOF means
// that there are no more. Another error counts as a request that failed, and is the last.
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

// numbered hands out requests 0 to n-1.
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

// foldersMax is into how many folders the files go: one with all of them is slow to
// write to on most file systems.
const foldersMax = 256

// fileName is that of file i. The multiplication spreads neighbours over the folders.
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

// connectionError is that of a request to which no answer came.
type connectionError struct{ err error }

func (c *connectionError) Error() string {
	var op *net.OpError
	if errors.As(c.err, &op) { // it names ports, which differ from one to the next
		return fmt.Sprintf("no answer: %s: %v", op.Op, op.Err)
	}
	return "no answer: " + c.err.Error()
}
func (c *connectionError) Unwrap() error { return c.err }
