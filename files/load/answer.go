package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"syscall"
)

// answer is an HTTP/1 response whose head has been read. It has only what a load needs.
type answer struct {
	status int
	close  bool // the connection ends after this answer

	in      *bufio.Reader
	chunked bool
	left    int64 // bytes of the body or of the present chunk; unknownLength = up to the connection's end
	begun   bool  // a chunk has begun
	done    bool  // all of the body was read
	peeked  int   // bytes that next returned last, still in the buffer
}

const (
	unknownLength = math.MaxInt64
	headMax       = 64 << 10 // bytes
	interimMax    = 8        // answers before the answer, such as 100 Continue
)

var (
	errHead  = errors.New("the answer is not HTTP/1")
	errLarge = errors.New("the answer's head is too large")
	errCut   = errors.New("the answer is cut short")
)

// answer reads the head of the next answer.
func (l *httpLink) answer(isHead bool) (*answer, error) {
	if _, err := l.in.Peek(1); err != nil {
		if isReset(err) {
			return nil, errStale
		}
		return nil, err
	}
	for range interimMax {
		a := &answer{in: l.in, left: unknownLength}
		if err := a.readHead(); err != nil {
			return nil, err
		}
		switch {
		case a.status == 101:
			return nil, errHead // the connection switches to another protocol
		case a.status < 200:
			continue
		case isHead || a.status == 204 || a.status == 304:
			a.chunked, a.left = false, 0
		}
		a.close = a.close || a.left == unknownLength && !a.chunked
		a.done = a.left == 0
		return a, nil
	}
	return nil, errHead
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
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil || a.status < 100 || a.status > 999 {
		return errHead
	}
	for size := 0; ; {
		if line, err = a.readLine(); err != nil || len(line) == 0 {
			return err
		}
		if size += len(line); size > headMax {
			return errLarge
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
		if err != nil || !a.chunked && a.left != unknownLength && a.left != int64(n) {
			return fmt.Errorf("%w: Content-Length: %q", errHead, value)
		}
		if !a.chunked {
			a.left = int64(n)
		}
	case len(name) == 17 && bytes.EqualFold(name, []byte("transfer-encoding")):
		if !bytes.EqualFold(value, []byte("chunked")) {
			return fmt.Errorf("%w: Transfer-Encoding: %q", errHead, value)
		}
		a.chunked, a.left = true, unknownLength
	case len(name) == 10 && bytes.EqualFold(name, []byte("connection")):
		for part := range bytes.SplitSeq(value, []byte(",")) {
			switch part = bytes.TrimSpace(part); {
			case bytes.EqualFold(part, []byte("close")):
				a.close = true
			case bytes.EqualFold(part, []byte("keep-alive")):
				a.close = false
			}
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
	if err := a.advance(); err != nil {
		return nil, err
	}
	if a.done {
		return nil, io.EOF
	}
	if a.chunked && !a.begun {
		if err := a.readChunkHead(); err != nil {
			return nil, err
		}
		if a.done {
			return nil, io.EOF
		}
	}
	if _, err := a.in.Peek(1); err != nil {
		return a.endOfInput(err)
	}
	p, err := a.in.Peek(int(min(a.left, int64(a.in.Buffered()))))
	a.peeked = len(p)
	return p, err
}

// endOfInput returns the result of next when the connection has ended.
func (a *answer) endOfInput(err error) ([]byte, error) {
	if err != io.EOF {
		return nil, err
	}
	if a.left == unknownLength {
		a.done = true
		return nil, io.EOF
	}
	return nil, errCut
}

// advance skips the piece that next returned last.
func (a *answer) advance() error {
	n := a.peeked
	a.peeked = 0
	if n == 0 {
		return nil
	}
	if _, err := a.in.Discard(n); err != nil {
		return err
	}
	if a.left == unknownLength {
		return nil
	}
	if a.left -= int64(n); a.left > 0 {
		return nil
	}
	if !a.chunked {
		a.done = true
		return nil
	}
	a.begun = false
	line, err := a.readLine()
	if err == nil && len(line) > 0 {
		err = errHead
	}
	return err
}

// readChunkHead reads the lines before a chunk, and after the last chunk.
func (a *answer) readChunkHead() error {
	line, err := a.readLine()
	if err != nil {
		return err
	}
	digits, _, _ := bytes.Cut(line, []byte(";"))
	n, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 62)
	if err != nil {
		return errHead
	}
	a.left, a.begun = int64(n), n > 0
	for size := 0; n == 0; {
		if line, err = a.readLine(); err != nil {
			return err
		}
		if len(line) == 0 {
			a.done = true
			return nil
		}
		if size += len(line); size > headMax {
			return errLarge
		}
	}
	return nil
}

// discard reads the rest of a body, if it is short.
func (a *answer) discard() error {
	for size := 0; size < discardMax; {
		p, err := a.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &connectionError{err}
		}
		size += len(p)
	}
	return nil
}

// complete reports whether the whole answer was read, so that another one can follow. It reads
// no further, except for the piece that next returned last.
func (a *answer) complete() bool { return a.advance() == nil && a.done }

// isReset reports whether an error means that the other end closed the connection.
func isReset(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
