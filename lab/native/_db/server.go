package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// connectionsMax is the number of connections that a server allows by default, without those for
// superusers.
const connectionsMax = 97

// A server is a private PostgreSQL server. It listens on a socket in its folder, and has no port.
// Each commit is on the disk when it returns, as by default.
type server struct {
	dsn     string
	command *exec.Cmd
	log     bytes.Buffer
	ended   chan struct{} // closed when the server has ended
}

// startServer creates a cluster in dir and returns when its server accepts connections.
func startServer(ctx context.Context, dir string) (*server, error) {
	bin, err := findPrograms()
	if err != nil {
		return nil, err
	}
	owner, err := serverUser(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	run := func(program string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, program), args...)
		c.Dir = dir
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TMPDIR=" + dir} // without the caller's PG…
		c.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
		return c
	}
	initdb := run("initdb", "-D", data, "-U", "muster", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	if output, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, errorLine(output))
	}
	s := &server{
		dsn:     fmt.Sprintf("host=%s user=muster dbname=postgres", quote(dir)),
		command: run("postgres", "-D", data, "-k", dir, "-c", "listen_addresses="),
		ended:   make(chan struct{}),
	}
	s.command.Stdout, s.command.Stderr = &s.log, &s.log
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.command.Wait()
		close(s.ended)
	}()
	return s, s.awaitReady(ctx)
}

// awaitReady connects until the server accepts a connection or has ended.
func (s *server) awaitReady(ctx context.Context) error {
	for {
		c, err := pgx.Connect(ctx, s.dsn)
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the PostgreSQL server did not start: %s", errorLine(s.log.Bytes()))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stop ends the server at once, without writing out its data.
func (s *server) stop() {
	_ = s.command.Process.Signal(syscall.SIGQUIT)
	<-s.ended
}

// findPrograms returns the folder of initdb and postgres. Debian keeps it outside PATH.
func findPrograms() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(initdb), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errors.New("no initdb in PATH or below /usr/lib/postgresql: install PostgreSQL, on Debian with apt-get install postgresql")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// serverUser returns the user for the server, nil for this process's. PostgreSQL refuses to run as
// root, so root gives dir to another user.
func serverUser(dir string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.Atoi(u.Uid)
			gid, _ := strconv.Atoi(u.Gid)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
		}
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody: start muster as another user")
}

// quote quotes a value of a connection string.
func quote(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

// errorLine returns the first line with an error, because hints may follow it.
func errorLine(output []byte) string {
	text := strings.TrimSpace(string(output))
	for line := range strings.Lines(text) {
		if strings.Contains(line, "FATAL:") || strings.Contains(line, "error:") {
			return strings.TrimSpace(line)
		}
	}
	return text
}
