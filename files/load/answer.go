package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// answer is a response of HTTP/1 whose head has been read. There is no more in it than a
// load has to know.
type answer struct {
	status int
	close  bool // the connection does after it

	in      *bufio.Reader
	chunked bool
	left    int64 // bytes of the body, or of the chunk that has begun; untold = up to the connection's end
	begun   bool  // a chunk has
	done    bool  // all of the body was read
	shown   int   // bytes that next returned last, which are in the buffer still
}

const (
	untold     = math.MaxInt64
	headMax    = 64 << 10 // bytes
	interimMax = 8        // answers before the answer, such as 100 Continue
)

var (
	errHead  = errors.New("the answer is not HTTP/1")
	errLarge = errors.New("the answer's head is too large")
	errCut   = errors.New("the answer is cut short")
)

// answer reads the head of the next answer.
func (l *httpLink) answer(isHead bool) (*answer, error) {
	if _, err := l.in.Peek(1); err != nil {
		if reset(err) {
			return nil, errStale
		}
		return nil, err
	}
	for range interimMax {
		a := &answer{in: l.in, left: untold}
		if err := a.readHead(); err != nil {
			return nil, err
		}
		switch {
		case a.status == 101:
			return nil, errHead // what comes now is something else
		case a.status < 200:
			continue
		case isHead || a.status == 204 || a.status == 304:
			a.chunked, a.left = false, 0
		}
		a.close = a.close || a.left == untold && !a.chunked
		a.done = a.left == 0
		return a, nil
	}
	return nil, errHead
}

// readHead reads the first line and the headers.
func (a *answer) readHead() error {
	line, err := a.line()
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
		if line, err = a.line(); err != nil || len(line) == 0 {
			return err
		}
		if size += len(line); size > headMax {
			return errLarge
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return errHead
		}
		if err := a.header(name, bytes.TrimSpace(value)); err != nil {
			return err
		}
	}
}

// header takes from a header how long the body is, and whether the connection stays.
func (a *answer) header(name, value []byte) error {
	switch {
	case len(name) == 14 && bytes.EqualFold(name, []byte("content-length")):
		n, err := strconv.ParseUint(string(value), 10, 62)
		if err != nil || !a.chunked && a.left != untold && a.left != int64(n) {
			return fmt.Errorf("%w: Content-Length: %q", errHead, value)
		}
		if !a.chunked {
			a.left = int64(n)
		}
	case len(name) == 17 && bytes.EqualFold(name, []byte("transfer-encoding")):
		if !bytes.EqualFold(value, []byte("chunked")) {
			return fmt.Errorf("%w: Transfer-Encoding: %q", errHead, value)
		}
		a.chunked, a.left = true, untold
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

// line reads a line, which is valid until the next read.
func (a *answer) line() ([]byte, error) {
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

// next returns what comes next of the body, which is valid until the next call; io.EOF at
// its end.
func (a *answer) next() ([]byte, error) {
	if err := a.forget(); err != nil {
		return nil, err
	}
	if a.done {
		return nil, io.EOF
	}
	if a.chunked && !a.begun {
		if err := a.chunk(); err != nil {
			return nil, err
		}
		if a.done {
			return nil, io.EOF
		}
	}
	if _, err := a.in.Peek(1); err != nil {
		return a.ended(err)
	}
	p, err := a.in.Peek(int(min(a.left, int64(a.in.Buffered()))))
	a.shown = len(p)
	return p, err
}

// ended is what next returns where nothing comes any more.
func (a *answer) ended(err error) ([]byte, error) {
	if err != io.EOF {
		return nil, err
	}
	if a.left == untold {
		a.done = true
		return nil, io.EOF
	}
	return nil, errCut
}

// forget moves on behind what next returned.
func (a *answer) forget() error {
	n := a.shown
	a.shown = 0
	if n == 0 {
		return nil
	}
	if _, err := a.in.Discard(n); err != nil {
		return err
	}
	if a.left == untold {
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
	line, err := a.line()
	if err == nil && len(line) > 0 {
		err = errHead
	}
	return err
}

// chunk reads what stands before a chunk, and after the last one.
func (a *answer) chunk() error {
	line, err := a.line()
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
		if line, err = a.line(); err != nil {
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

// discard reads what is left of a body, if that is not much.
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

// end reports whether all of the answer was read, so that another can follow. It reads
// no further but for what was shown already.
func (a *answer) end() bool { return a.forget() == nil && a.done }
