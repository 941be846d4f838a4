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

// server is a process that serves, started for a load.
type server struct {
	url, admin string

	command *exec.Cmd
	kill    context.CancelFunc
	told    chan struct{} // closed when it has said where it is
	ended   chan struct{} // closed when it says nothing more
	last    []string      // of what it said, in order; to be read when ended is closed

	instead string // what a server says that is not as it should be; "" = none does
	other   string // that it said so; to be read when told is closed
}

const (
	startMax = 30 * time.Second
	stopMax  = 30 * time.Second

	wordsMax = 10 // lines that are kept of what a server says
	lineMax  = 64 << 10
)

var (
	listening = regexp.MustCompile(`\blistening on (https?://[^\s"]+)`)
	admin     = regexp.MustCompile(`\badmin on (https?://[^\s"]+)`)
)

// startServer starts a server and waits until it says where it is. It lives until it is
// stopped: the end of the context does not end it, but ends the waiting. One that says
// instead is not as it should be, and ended.
func startServer(ctx context.Context, argv []string, instead string) (*server, error) {
	alive, kill := context.WithCancel(context.WithoutCancel(ctx))
	s := &server{command: exec.CommandContext(alive, argv[0], argv[1:]...), kill: kill, told: make(chan struct{}), ended: make(chan struct{}), instead: instead}
	says, err := s.command.StderrPipe()
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		kill()
		return nil, err
	}
	go s.listen(says)
	timer := time.NewTimer(startMax)
	defer timer.Stop()
	select {
	case <-s.told:
		if s.other != "" {
			return nil, errors.Join(errors.New(s.other), s.stop())
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
		return nil, errors.Join(fmt.Errorf("the server does not say where it is: %s", strings.Join(argv, " ")), s.stop())
	}
}

// listen reads what the server says, to its end, or it could say nothing more.
func (s *server) listen(says io.Reader) {
	defer close(s.ended)
	lines := bufio.NewReaderSize(says, lineMax)
	var url, adminURL string
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		if s.last = append(s.last, string(line)); len(s.last) > wordsMax {
			s.last = slices.Delete(s.last, 0, 1)
		}
		if s.url != "" {
			continue
		}
		if s.instead != "" && bytes.Contains(line, []byte(s.instead)) {
			s.other = string(line)
		}
		if at := listening.FindSubmatch(line); at != nil {
			url = string(at[1])
		}
		if at := admin.FindSubmatch(line); at != nil {
			adminURL = string(at[1])
		}
		if url != "" && adminURL != "" {
			s.url, s.admin = url, adminURL
			close(s.told)
		}
	}
}

// result is with what the server has ended, and the last thing that it said.
func (s *server) result() error {
	err := s.command.Wait()
	if err == nil || len(s.last) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, s.last[len(s.last)-1])
}

// stop asks the server to end, and waits for that; one that does not end is killed.
func (s *server) stop() error {
	defer s.kill()
	_ = s.command.Process.Signal(syscall.SIGTERM) // it has ended already, or will be killed
	timer := time.AfterFunc(stopMax, s.kill)
	defer timer.Stop()
	<-s.ended
	if err := s.result(); err != nil {
		return fmt.Errorf("the server: %w", err)
	}
	return nil
}
