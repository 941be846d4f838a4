package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"muster/files/load"
)

// UploadOptions says how a service is put under load.
type UploadOptions struct {
	Server      []string // the command of a process that calls [Serve] with its input and output
	Connections int
	Requests    int // in all
	Size        int // of each file, in bytes
}

// Uploaded is what became of that.
type Uploaded struct {
	N       int
	Wall    time.Duration // from the first request to the last answer
	Threads int           // of the server's process, at most; 0 = the system does not tell
}

// Upload starts a server and uploads files to it, each connection one after another. A
// request that fails is an error. When Upload returns, the server has ended.
func Upload(ctx context.Context, o UploadOptions) (u Uploaded, err error) {
	if len(o.Server) == 0 {
		return u, errors.New("there must be a command that serves")
	}
	s, err := startServer(ctx, o.Server)
	if err != nil {
		return u, err
	}
	result, err := load.Run(ctx, load.Options{
		Op: load.Upload, URL: s.url, Connections: o.Connections, Requests: o.Requests, Size: int64(o.Size),
	})
	if err == nil && result.Failed > 0 {
		err = fmt.Errorf("%d of %d uploads failed: %s", result.Failed, result.Requests, result.Failures[0].Reason)
	}
	n, e := s.end()
	if err := errors.Join(err, e); err != nil {
		return u, err
	}
	return Uploaded{N: int(result.Succeeded), Wall: result.Wall, Threads: n}, nil
}

// server is a process that calls Serve.
type server struct {
	url string

	cmd    *exec.Cmd
	hold   io.Closer // ends it
	says   *bufio.Reader
	failed firstBytes
}

// startServer returns when the server has said where it is. It ends with ctx, or when this
// process does: then nobody holds its input any longer.
func startServer(ctx context.Context, command []string) (*server, error) {
	s := &server{cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	s.cmd.Stderr = &s.failed
	s.cmd.WaitDelay = time.Second
	hold, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	says, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.hold, s.says = hold, bufio.NewReader(says)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := s.says.ReadString('\n')
	if err != nil {
		_, e := s.end()
		return nil, errors.Join(fmt.Errorf("the server does not say where it is: %w", err), e)
	}
	s.url = strings.TrimSpace(line)
	return s, nil
}

// end ends the server and returns how many threads it has had.
func (s *server) end() (threads int, err error) {
	s.hold.Close()
	line, err := s.says.ReadString('\n')
	if err == nil {
		threads, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if e := s.cmd.Wait(); e != nil {
		return 0, fmt.Errorf("the server: %w: %s", e, firstLines(s.failed.bytes))
	}
	return threads, err
}
