// Package postgres starts a PostgreSQL server of one's own for a while: an empty cluster
// in a folder for temporary files, reached over a socket in that folder and over no
// network, with the durability that PostgreSQL has by default, since figures without it
// would be no figures. It is gone, with all that it wrote, when it is stopped or the
// context ends.
//
// The package must not speak to the server: that is for whoever has a driver.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Options say what server is wanted.
type Options struct {
	ConnectionsMax int // 0 = 100, as PostgreSQL has it

	// Dir is where the folder for it is made; "" = the system's folder for temporary
	// files. Where that is in memory, being durable costs nothing.
	Dir string
}

const (
	// Beside them PostgreSQL keeps three for superusers, out of this number.
	connectionsDefault = 100
	connectionsLeast   = 4

	// What comes with a kernel for the path of a socket, less its end and ".s.PGSQL.5432".
	socketDirMax = 90

	role       = "muster"
	endTimeout = 10 * time.Second
)

// Missing says why there is no server here, and what would help.
type Missing struct {
	Reason  string
	Install string // what brings it, on Debian
}

func (m *Missing) Error() string {
	return fmt.Sprintf("no PostgreSQL server here: %s; on Debian %s brings it", m.Reason, m.Install)
}

// A Server is one that runs.
type Server struct {
	dir            string
	connectionsMax int
	end            context.CancelFunc
	ended          chan struct{} // closed once it has ended and its folder is gone
	said           []byte        // its log; to be read after ended, like the next
	cleaned        error         // of the removal
}

// Start makes a cluster and starts its server, and returns once that takes connections. A
// server that is not installed is a *Missing. Where this process is root, the server runs
// as user postgres, or nobody: PostgreSQL refuses root. When ctx ends, so does the server.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.ConnectionsMax == 0 {
		o.ConnectionsMax = connectionsDefault
	}
	if o.ConnectionsMax < connectionsLeast {
		return nil, fmt.Errorf("a server with %d connections: PostgreSQL keeps 3 for itself, so there must be %d or more", o.ConnectionsMax, connectionsLeast)
	}
	bin, err := findPrograms(folders)
	if err != nil {
		return nil, err
	}
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	dir, err := makeFolder(o.Dir, owner)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(ctx)
	s := &Server{dir: dir, connectionsMax: o.ConnectionsMax, end: end, ended: make(chan struct{})}
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

// DSN is what clients connect with, in the form of libpq's key=value.
func (s *Server) DSN() string {
	return fmt.Sprintf("host='%s' user=%s dbname=postgres", strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s.dir), role)
}

// ConnectionsMax is the server's max_connections, of which three are for superusers.
func (s *Server) ConnectionsMax() int { return s.connectionsMax }

// Ended is closed once the server has ended and its folder is gone.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Stop ends the server and removes its folder. It may be called more than once.
func (s *Server) Stop() error {
	s.end()
	<-s.ended
	return s.cleaned
}

// makeFolder makes one that the server's user owns and nobody else may enter.
func makeFolder(parent string, owner *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp(parent, "muster-pg-")
	if err != nil {
		return "", fmt.Errorf("folder for a PostgreSQL server: %w", err)
	}
	// The server's own working folder is another: a relative path would mean nothing there.
	dir, err = filepath.Abs(dir)
	if err == nil && len(dir) > socketDirMax {
		mend := "name a shorter one"
		if parent == "" {
			mend = "set TMPDIR to a shorter one"
		}
		err = fmt.Errorf("%s is %d bytes long and a socket's folder at most %d: %s", dir, len(dir), socketDirMax, mend)
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

// makeCluster runs initdb, which need not wait for the disk: nothing in it is worth that.
func (s *Server) makeCluster(ctx context.Context, bin string, owner *syscall.Credential) error {
	c := s.command(ctx, owner, filepath.Join(bin, "initdb"), "-D", s.data(), "-U", role,
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	said, err := c.CombinedOutput()
	if owner != nil && errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("initdb: %w: muster is root, and PostgreSQL's user must be able to enter %s: name another folder", err, filepath.Dir(s.dir))
	}
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", cause(ctx, err), lastLine(said))
	}
	return nil
}

// run starts the server and what removes its folder once it has ended, for whatever reason.
func (s *Server) run(ctx context.Context, bin string, owner *syscall.Credential) error {
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer log.Close()
	c := s.command(ctx, owner, filepath.Join(bin, "postgres"), "-D", s.data(), "-k", s.dir,
		"-c", "listen_addresses=", "-c", "max_connections="+strconv.Itoa(s.connectionsMax))
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return fmt.Errorf("start a PostgreSQL server: %w", cause(ctx, err))
	}
	go func() {
		defer close(s.ended)
		_ = c.Wait() // it is ended by a signal, so how it ended says nothing
		s.said, _ = os.ReadFile(s.log())
		s.cleaned = os.RemoveAll(s.dir)
	}()
	return nil
}

// command is one that runs as the given user, in the server's folder, with none of the
// caller's PG* variables, and is ended with the context or this process.
func (s *Server) command(ctx context.Context, owner *syscall.Credential, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = s.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TMPDIR=" + s.dir}
	c.SysProcAttr = attributes(owner)
	// SIGQUIT ends a server without writing out what is thrown away. Killed, it would
	// leave its processes to find out for themselves; that is for when a client that
	// came last and says nothing has it wait. The group is initdb with what it started.
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGQUIT) }
	c.WaitDelay = endTimeout
	return c
}

// awaitReady looks into the file in which the server tells pg_ctl how far it is.
func (s *Server) awaitReady(ctx context.Context) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
		if lines := strings.Split(string(text), "\n"); err == nil && len(lines) > 7 && strings.TrimSpace(lines[7]) == "ready" {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the PostgreSQL server did not start: %w", cause(ctx, errors.New(lastLine(s.said))))
		case <-look.C:
		}
	}
}

// cause is why the context ended, where that is the reason of an error.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// lastLine is where programs of PostgreSQL tell what ended them; hints follow it.
func lastLine(said []byte) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(lines[i], "FATAL:") || strings.Contains(lines[i], "error:") {
			return lines[i]
		}
	}
	return lines[len(lines)-1]
}
