package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A contestant is a file service that can be started over a folder.
type contestant struct {
	name  string
	needs string // a program; "" = nothing that is not built here
	quiet bool   // its log is not shown
	// command is what runs in the foreground and serves the files.
	command func(place) ([]string, error)
	silent  int // clients beside the load that announce a file and do not send it

	store  *contestant // what it keeps the files in, and is started before it; nil = the folder
	client []string    // arguments of files/client, which makes the load; nil = muster load does
	own    bool        // the CPU is the client's own
}

// A place is where a contestant serves /files/NAME.
type place struct {
	addr   string
	folder string // of the files
	work   string // a folder for what else it writes
	store  string // the address of the contestant's store
}

// contestants are all, muster's engines first. With silent clients each contestant is there
// twice: without them, and with them.
func (b *bench) contestants() []contestant {
	if b.chosen != nil {
		return b.chosen
	}
	all := b.services()
	if b.silent > 0 {
		for _, c := range all {
			c.name, c.silent = fmt.Sprintf("%s, %d silent clients", c.name, b.silent), b.silent
			all = append(all, c)
		}
	}
	return all
}

func (b *bench) services() []contestant {
	var all []contestant
	for _, word := range b.engines {
		engine, program, isOther := strings.Cut(word, "=")
		if !isOther {
			program = b.muster
		}
		engine, processors, _ := strings.Cut(engine, ":")
		all = append(all, contestant{name: "muster " + word, quiet: true, command: func(p place) ([]string, error) {
			return append([]string{"env", "GOMAXPROCS=" + processors}, b.serveCommand(program, engine, p, "--data", filepath.Join(p.folder, "muster"))...), nil
		}})
	}
	return append(all,
		contestant{name: nginxName, needs: "nginx", command: nginx("")},
		contestant{name: "nginx aio threads", needs: "nginx", command: nginx("aio threads;")},
		contestant{name: "net/http", command: func(p place) ([]string, error) {
			return []string{b.plain, p.addr, p.folder}, nil
		}},
	)
}

// serveCommand is muster serve with its settings and more.
func (b *bench) serveCommand(program, engine string, p place, more ...string) []string {
	return append([]string{
		program, "serve", "--addr", p.addr, "--io", engine, "--io-threads", strconv.Itoa(b.threads), "--sync", b.sync, "--queue-max", "16384",
	}, more...)
}

const nginxName = "nginx"

// others are the servers that muster is compared with.
var others = []string{nginxName, "nginx aio threads", "net/http"}

func (c contestant) missing() bool {
	if c.needs == "" {
		return false
	}
	_, err := exec.LookPath(c.needs)
	return err != nil
}

// nginxText serves files with as many workers as there are processors, and as WebDAV for
// PUT; bodies go to the disk on which they stay, so that they are renamed and not copied.
const nginxText = `
daemon off;
user root;
worker_processes auto;
worker_rlimit_nofile 20000;
pid %[3]s/pid;
error_log %[3]s/error.log crit;
events { worker_connections 8192; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	%[4]s
	keepalive_requests 100000000;
	client_max_body_size 2g;
	client_body_buffer_size 64k;
	client_body_temp_path %[2]s/nginx-bodies;
	proxy_temp_path %[3]s/proxy; fastcgi_temp_path %[3]s/fastcgi; uwsgi_temp_path %[3]s/uwsgi; scgi_temp_path %[3]s/scgi;
	server {
		listen %[1]s backlog=8192;
		location /files/ {
			alias %[2]s/;
			dav_methods PUT DELETE;
			create_full_put_path on;
		}
	}
}
`

// nginx starts it with one more directive, or none.
func nginx(directive string) func(place) ([]string, error) {
	return func(p place) ([]string, error) {
		name := filepath.Join(p.work, "nginx.conf")
		if err := os.WriteFile(name, fmt.Appendf(nil, nginxText, p.addr, p.folder, p.work, directive), 0o600); err != nil {
			return nil, err
		}
		return []string{"nginx", "-c", name, "-p", p.work}, nil
	}
}

// server is a contestant that runs.
type server struct {
	*exec.Cmd
	addr  string
	work  string
	store *server // nil = it has none
}

// startTime is how long a server may take until it answers.
const startTime = 30 * time.Second

// start starts a contestant, after its store if it has one.
func start(ctx context.Context, c contestant, folder string) (*server, error) {
	if c.store == nil {
		return launch(ctx, c, folder, "")
	}
	store, err := launch(ctx, *c.store, folder, "")
	if err != nil {
		return nil, err
	}
	s, err := launch(ctx, c, folder, store.addr)
	if err != nil {
		return nil, errors.Join(err, store.stop())
	}
	s.store = store
	return s, nil
}

func launch(ctx context.Context, c contestant, folder, store string) (*server, error) {
	work, err := os.MkdirTemp("", "bench-files-")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	words, err := c.command(place{addr: addr, folder: folder, work: work, store: store})
	if err != nil {
		return nil, err
	}
	s := &server{Cmd: exec.CommandContext(ctx, words[0], words[1:]...), addr: addr, work: work}
	s.Stderr = os.Stderr
	if c.quiet {
		s.Stderr = nil
	}
	s.Cancel = func() error { return s.Process.Signal(syscall.SIGTERM) }
	if err := s.Start(); err != nil {
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		answer, err := http.Get("http://" + addr + "/")
		if err == nil {
			_ = answer.Body.Close() // its status says all
			if answer.StatusCode < http.StatusInternalServerError {
				return s, nil
			}
			err = errors.New(answer.Status)
		}
		if time.Since(began) > startTime || ctx.Err() != nil {
			return nil, errors.Join(fmt.Errorf("%s does not answer: %w", c.name, err), s.stop())
		}
	}
}

// stop ends the server, which has what it was sent by then.
func (s *server) stop() error {
	_ = s.Process.Signal(syscall.SIGTERM)
	err := s.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil // by the signal
	}
	if s.store != nil {
		err = errors.Join(err, s.store.stop())
	}
	return errors.Join(err, os.RemoveAll(s.work))
}

// freeAddr is an address on which nobody listens; somebody may before we do.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
