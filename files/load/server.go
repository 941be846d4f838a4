package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// server is a server process that was started for a load.
type server struct {
	url, admin string

	command *exec.Cmd
	kill    context.CancelFunc
	ready   chan struct{} // closed when it has printed its addresses
	ended   chan struct{} // closed at the end of its output
	last    []string      // its last lines; valid once ended is closed

	fallbackText string // see EnginesOptions
	fallback     string // the line with fallbackText; valid once ready is closed
}

const (
	startMax = 30 * time.Second
	stopMax  = 30 * time.Second

	linesKept = 10 // lines of a server's output
	lineMax   = 64 << 10
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
	timer := time.NewTimer(startMax)
	defer timer.Stop()
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
	case <-timer.C:
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
		if s.last = append(s.last, string(line)); len(s.last) > linesKept {
			s.last = slices.Delete(s.last, 0, 1)
		}
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
	if err == nil || len(s.last) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, s.last[len(s.last)-1])
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
