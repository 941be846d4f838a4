package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"muster/internal/wording"
)

// server is a server process that was started for a load.
type server struct {
	url, admin string

	command *exec.Cmd
	kill    context.CancelFunc
	ready   chan struct{} // closed when it has printed its addresses
	ended   chan struct{} // closed at the end of its output
	last    string        // its last line; valid once ended is closed

	fallbackText string // see EnginesOptions
	fallback     string // the line with fallbackText; valid once ready is closed
}

const (
	startMax = 30 * time.Second
	stopMax  = 30 * time.Second

	lineMax = 64 << 10 // bytes of a line of a server's output
)

var (
	listening = regexp.MustCompile(`\blistening on (https?://[^\s"]+)`)
	admin     = regexp.MustCompile(`\badmin on (https?://[^\s"]+)`)
)

// startServer starts a server and waits until it prints its addresses. The end of the context
// ends only the wait: the server runs until stop. A server that prints fallbackText is
// stopped, and startServer returns an error.
func startServer(ctx context.Context, argv []string, fallbackText string) (*server, error) {
	alive, kill := context.WithCancel(context.WithoutCancel(ctx))
	s := &server{command: exec.CommandContext(alive, argv[0], argv[1:]...), kill: kill, ready: make(chan struct{}), ended: make(chan struct{}), fallbackText: fallbackText}
	output, err := s.command.StderrPipe()
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		kill()
		return nil, err
	}
	go s.readOutput(output)
	select {
	case <-s.ready:
		if s.fallback != "" {
			return nil, errors.Join(errors.New(s.fallback), s.stop())
		}
		return s, nil
	case <-s.ended:
		err := s.result()
		kill()
		if err == nil {
			err = errors.New("the server ended at once")
		}
		return nil, err
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), s.stop())
	case <-time.After(startMax):
		return nil, errors.Join(fmt.Errorf("the server did not print its addresses: %s", strings.Join(argv, " ")), s.stop())
	}
}

// readOutput reads the server's output to its end, so that the server never blocks on it.
func (s *server) readOutput(output io.Reader) {
	defer close(s.ended)
	lines := bufio.NewReaderSize(output, lineMax)
	var url, adminURL string
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		s.last = string(line)
		if s.url != "" {
			continue
		}
		if s.fallbackText != "" && bytes.Contains(line, []byte(s.fallbackText)) {
			s.fallback = string(line)
		}
		if at := listening.FindSubmatch(line); at != nil {
			url = string(at[1])
		}
		if at := admin.FindSubmatch(line); at != nil {
			adminURL = string(at[1])
		}
		if url != "" && adminURL != "" {
			s.url, s.admin = url, adminURL
			close(s.ready)
		}
	}
}

// result returns the server's exit error with its last line of output.
func (s *server) result() error {
	err := s.command.Wait()
	if err == nil || s.last == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, s.last)
}

// stop asks the server to end and waits. It kills a server that does not end in time.
func (s *server) stop() error {
	defer s.kill()
	_ = s.command.Process.Signal(syscall.SIGTERM) // on failure it has ended already, or will be killed
	timer := time.AfterFunc(stopMax, s.kill)
	defer timer.Stop()
	<-s.ended
	if err := s.result(); err != nil {
		return fmt.Errorf("the server: %w", err)
	}
	return nil
}

// job is one request.
type job struct {
	op       Op
	position int    // among all requests, from 0 on
	number   int    // of the file, and so of its content
	name     string // of the file

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
}

// A source returns requests one after another, to any number of goroutines, or false if none is left.
type source func(j *job) bool

func newTarget(o Options) (target, error) {
	switch {
	case o.Protocol == HTTP && o.Op != Clean: // one message cleans
		return newHTTPTarget(o)
	case slices.Contains(Protocols(), o.Protocol):
		return newCallerTarget(o)
	default:
		return nil, inputf("no protocol %q: there are %v", o.Protocol, Protocols())
	}
}

// numbered returns requests for files 0 to n-1, once or again and again.
func numbered(op Op, n int, again bool) source {
	var taken atomic.Int64
	return func(j *job) bool {
		i := int(taken.Add(1)) - 1
		if i >= n && !again {
			return false
		}
		*j = job{op: op, position: i, number: i % n, files: 1}
		switch op {
		case Bench:
		case Clean:
			j.name = Prefix
		default:
			j.name = fileName(j.number)
		}
		return true
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
	if reason := reasonOf(c.err); reason != errLate {
		return "no answer: " + reason
	}
	return errLate
}
func (c *connectionError) Unwrap() error { return c.err }

const errLate = "no answer in time"

// reasonOf returns why a connection failed, without ports, which differ between connections.
func reasonOf(err error) string {
	var late net.Error
	var op *net.OpError
	var errno syscall.Errno
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &late) && late.Timeout():
		return errLate
	case errors.As(err, &record):
		return wording.Of(record)
	case errors.As(err, &certificate):
		return wording.Of(certificate)
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &op):
		return wording.Of(&net.OpError{Err: op.Err})
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errStale.Error()
	}
	return err.Error()
}

// content is the content of a load's files. It depends only on the size, so that one load can
// check what another has uploaded, and nothing must be stored. Each body is cut from a circle
// of random bytes, one byte further for each number. The circle's length is prime, so that no
// part of one body equals the same part of another.
type content struct {
	circle []byte // followed by its beginning again, for the longest piece
	size   int64
}

const (
	circleSize = 131_101
	pieceMax   = 256 << 10
)

func newContent(size int64) *content {
	c := &content{circle: make([]byte, circleSize+min(size, pieceMax)), size: size}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range min(circleSize, len(c.circle)) {
		c.circle[i] = byte(r.Uint32())
	}
	for i := circleSize; i < len(c.circle); i++ {
		c.circle[i] = c.circle[i-circleSize]
	}
	return c
}

// piece returns a body's bytes from an offset: all up to its end, or the longest possible
// piece.
func (c *content) piece(number int, from int64) []byte {
	at := (int64(number) + from) % circleSize
	return c.circle[at : at+min(c.size-from, pieceMax)]
}

// has reports whether a body has these bytes at an offset.
func (c *content) has(number int, from int64, data []byte) bool {
	if from+int64(len(data)) > c.size {
		return false
	}
	for len(data) > 0 {
		p := c.piece(number, from)
		p = p[:min(len(p), len(data))]
		if !bytes.Equal(p, data[:len(p)]) {
			return false
		}
		from, data = from+int64(len(p)), data[len(p):]
	}
	return true
}
