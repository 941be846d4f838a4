package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http/httputil"
	"strconv"
	"syscall"
)

// answer is an HTTP/1 response whose head has been read. It has only what a load needs. The
// deadline of its connection bounds how much is read.
type answer struct {
	status int
	close  bool // the connection ends after this answer

	in     *bufio.Reader
	chunks io.Reader // of a chunked body
	left   int64     // bytes of another body; unknownLength = up to the connection's end
	done   bool      // all of the body was read
	peeked int       // bytes that next returned last, still in the buffer
}

const (
	unknownLength = math.MaxInt64
	chunkMax      = 4 << 10 // bytes of a chunk that are read at once
)

var (
	errHead  = errors.New("the answer is not HTTP/1")
	errLarge = errors.New("the answer's head is too large")
	errCut   = errors.New("the answer is cut short")
)

// answer reads the head of the next answer, and skips interim ones such as 100 Continue.
func (l *httpLink) answer(isHead bool) (*answer, error) {
	if _, err := l.in.Peek(1); err != nil {
		if isReset(err) {
			return nil, errStale
		}
		return nil, err
	}
	a := &answer{in: l.in}
	for a.status < 200 {
		a.left = unknownLength
		if err := a.readHead(); err != nil {
			return nil, err
		}
	}
	switch {
	case isHead || a.status == 204 || a.status == 304:
		a.chunks, a.left = nil, 0
	case a.chunks != nil:
		a.left = unknownLength
	case a.left == unknownLength:
		a.close = true
	}
	a.done = a.left == 0
	return a, nil
}

// readHead reads the first line and the headers.
func (a *answer) readHead() error {
	line, err := a.readLine()
	if err != nil {
		return err
	}
	// HTTP/1.1 200 OK
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' {
		return errHead
	}
	a.close = line[7] == '0'
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return errHead
	}
	for {
		if line, err = a.readLine(); err != nil || len(line) == 0 {
			return err
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return errHead
		}
		if err := a.readHeader(name, bytes.TrimSpace(value)); err != nil {
			return err
		}
	}
}

// readHeader reads from a header how long the body is, and whether the connection stays open.
func (a *answer) readHeader(name, value []byte) error {
	switch {
	case len(name) == 14 && bytes.EqualFold(name, []byte("content-length")):
		n, err := strconv.ParseUint(string(value), 10, 62)
		if err != nil {
			return fmt.Errorf("%w: Content-Length: %q", errHead, value)
		}
		a.left = int64(n)
	case len(name) == 17 && bytes.EqualFold(name, []byte("transfer-encoding")):
		if !bytes.EqualFold(value, []byte("chunked")) {
			return fmt.Errorf("%w: Transfer-Encoding: %q", errHead, value)
		}
		a.chunks = httputil.NewChunkedReader(a.in)
	case len(name) == 10 && bytes.EqualFold(name, []byte("connection")):
		for part := range bytes.SplitSeq(value, []byte(",")) {
			a.close = a.close || bytes.EqualFold(bytes.TrimSpace(part), []byte("close"))
		}
	}
	return nil
}

// readLine reads a line, which is valid until the next read.
func (a *answer) readLine() ([]byte, error) {
	line, err := a.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errLarge
	case err == io.EOF:
		return nil, errCut
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// next returns the next piece of the body, which is valid until the next call. At the body's
// end it returns io.EOF.
func (a *answer) next() ([]byte, error) {
	if a.complete() {
		return nil, io.EOF
	}
	if a.chunks != nil {
		return a.nextChunk()
	}
	if _, err := a.in.Peek(1); err != nil {
		if err == io.EOF && a.left != unknownLength {
			err = errCut
		}
		return nil, err
	}
	p, err := a.in.Peek(int(min(a.left, int64(a.in.Buffered()))))
	a.peeked = len(p)
	return p, err
}

func (a *answer) nextChunk() ([]byte, error) {
	p := make([]byte, chunkMax)
	n, err := a.chunks.Read(p)
	if n > 0 {
		return p[:n], nil // the next call returns the error
	}
	for err == io.EOF { // trailers follow, and an empty line
		line, bad := a.readLine()
		if bad != nil {
			return nil, bad
		}
		if len(line) == 0 {
			a.done = true
			break
		}
	}
	return nil, err
}

// discard reads the rest of a body.
func (a *answer) discard() error {
	for {
		_, err := a.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &connectionError{err}
		}
	}
}

// complete skips the piece that next returned last, and reports whether that was the end of the
// answer, so that another one can follow.
func (a *answer) complete() bool {
	_, _ = a.in.Discard(a.peeked) // these bytes are in the buffer
	if a.left != unknownLength {
		a.left -= int64(a.peeked)
		a.done = a.left == 0
	}
	a.peeked = 0
	return a.done
}

// isReset reports whether an error means that the other end closed the connection.
func isReset(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
