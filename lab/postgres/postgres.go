// Package postgres starts a private PostgreSQL server for a limited time. It creates an empty
// cluster in a temporary folder. Clients connect over a socket in that folder; the server has
// no network port. Durability is PostgreSQL's default, because figures without it would be
// meaningless. Stop, or the end of the context, ends the server and removes all its files.
//
// The package must not connect to the server: its caller brings a driver.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// The kernel's limit for the path of a socket, minus "/.s.PGSQL.5432".
	socketDirMax = 90

	role       = "muster"
	endTimeout = 10 * time.Second
)

// A Server is a running server.
type Server struct {
	dir       string
	end       context.CancelFunc
	ended     chan struct{} // closed when the server has ended and its folder is removed
	logText   []byte        // the server's log; read it after ended
	removeErr error         // error of the removal; read it after ended
}

// Start creates a cluster, starts its server, and returns when the server accepts connections.
// If PostgreSQL is not installed, the error is a *Missing. PostgreSQL refuses to run as root:
// if this process is root, the server runs as user postgres or nobody. The server ends with
// ctx.
func Start(ctx context.Context) (*Server, error) {
	bin, err := findPrograms(folders)
	if err != nil {
		return nil, err
	}
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	dir, err := makeFolder(owner)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(ctx)
	s := &Server{dir: dir, end: end, ended: make(chan struct{})}
	err = s.makeCluster(ctx, bin, owner)
	if err == nil {
		err = s.run(ctx, bin, owner)
	}
	if err != nil {
		end()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// DSN returns the connection string for clients, in libpq's form key=value.
func (s *Server) DSN() string {
	return fmt.Sprintf("host='%s' user=%s dbname=postgres", strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s.dir), role)
}

// Stop ends the server and removes its folder. It may be called again.
func (s *Server) Stop() error {
	s.end()
	<-s.ended
	return s.removeErr
}

// makeFolder creates a folder that only the server's user may enter, in the system's folder for
// temporary files. If that is in memory, durability costs nothing.
func makeFolder(owner *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp("", "muster-pg-")
	if err != nil {
		return "", fmt.Errorf("folder for a PostgreSQL server: %w", err)
	}
	// The server has another working folder, so it needs an absolute path.
	dir, err = filepath.Abs(dir)
	if err == nil && len(dir) > socketDirMax {
		err = fmt.Errorf("the path %s has %d bytes, and the folder of a socket may have %d: set TMPDIR to a shorter one", dir, len(dir), socketDirMax)
	}
	if err == nil && owner != nil {
		err = os.Chown(dir, int(owner.Uid), int(owner.Gid))
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("folder for a PostgreSQL server: %w", err), os.RemoveAll(dir))
	}
	return dir, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }
func (s *Server) log() string  { return filepath.Join(s.dir, "log") }

// makeCluster runs initdb without syncing: the cluster is temporary.
func (s *Server) makeCluster(ctx context.Context, bin string, owner *syscall.Credential) error {
	c := s.command(ctx, owner, filepath.Join(bin, "initdb"), "-D", s.data(), "-U", role,
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	output, err := c.CombinedOutput()
	if owner != nil && errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("initdb: %w: muster runs as root, and PostgreSQL's user may not enter %s: set TMPDIR to another folder", err, filepath.Dir(s.dir))
	}
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", cause(ctx, err), errorLine(output))
	}
	return nil
}

// run starts the server. A goroutine removes the folder when the server has ended, whatever
// the reason.
func (s *Server) run(ctx context.Context, bin string, owner *syscall.Credential) error {
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer log.Close()
	c := s.command(ctx, owner, filepath.Join(bin, "postgres"), "-D", s.data(), "-k", s.dir,
		"-c", "listen_addresses=", "-c", "max_connections=100")
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return fmt.Errorf("start a PostgreSQL server: %w", cause(ctx, err))
	}
	go func() {
		defer close(s.ended)
		_ = c.Wait() // a signal ends it, so the exit status means nothing
		s.logText, _ = os.ReadFile(s.log())
		s.removeErr = os.RemoveAll(s.dir)
	}()
	return nil
}

// command prepares a command that runs as the given user in the server's folder. The command
// does not see the caller's PG* variables, and ends with the context or this process.
func (s *Server) command(ctx context.Context, owner *syscall.Credential, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = s.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TMPDIR=" + s.dir}
	c.SysProcAttr = processAttributes(owner)
	// SIGQUIT ends a server at once, without writing out its data. WaitDelay kills a server
	// that still waits for a silent client; its child processes then notice by themselves. The
	// signal goes to the group, because initdb starts children.
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGQUIT) }
	c.WaitDelay = endTimeout
	return c
}

// awaitReady polls the file in which the server reports its state to pg_ctl.
func (s *Server) awaitReady(ctx context.Context) error {
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
		if lines := strings.Split(string(text), "\n"); err == nil && len(lines) > 7 && strings.TrimSpace(lines[7]) == "ready" {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the PostgreSQL server did not start: %w", cause(ctx, errors.New(errorLine(s.logText))))
		case <-poll.C:
		}
	}
}

// cause returns the reason why the context ended, if it ended, else err.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// errorLine returns the last line with a fatal error, because hints may follow it.
func errorLine(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(lines[i], "FATAL:") || strings.Contains(lines[i], "error:") {
			return lines[i]
		}
	}
	return lines[len(lines)-1]
}
