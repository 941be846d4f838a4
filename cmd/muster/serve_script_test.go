package main_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"muster/test/kits/buckettest"
)

// served is a server that runs beside the script.
type served struct {
	*exec.Cmd
	log   string        // file with its standard error
	ended chan struct{} // closed when its output has ended
}

// serversKey is where a script's values hold its servers by name.
type serversKey struct{}

// serve starts "muster serve" at a free port, with further arguments, and returns when it
// listens. The variable NAME is its address, and NAME_ADMIN the operator's. NAME.out and
// NAME.err are files with its output. It ends with the script, or by end.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: serve NAME [args...]")
	}
	name := args[0]
	ts.Check(ts.Exec("env", "-0"))
	environment := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")
	stdout, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer stdout.Close()
	log, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)

	words := append([]string{"muster", "serve", "--addr", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args[1:]...)
	s := &served{Cmd: exec.CommandContext(testOf(ts).Context(), "env", words...), log: log.Name(), ended: make(chan struct{})}
	s.Env, s.Dir, s.Stdout = environment, ts.MkAbs("."), stdout
	said, err := s.StderrPipe()
	ts.Check(err)
	ts.Check(s.Start())

	found := make(chan [2]string, 1) // which part listens, and where
	go func() {
		defer close(s.ended)
		defer log.Close()
		lines := bufio.NewReader(said)
		for {
			line, err := lines.ReadString('\n')
			_, _ = io.WriteString(log, line)
			if what, where, ok := strings.Cut(strings.TrimSpace(line), " on "); ok && (what == "admin" || what == "listening") {
				found <- [2]string{what, where}
			}
			if err != nil {
				return
			}
		}
	}()
	if servers, ok := ts.Value(serversKey{}).(map[string]*served); ok {
		servers[name] = s
	}
	ts.Defer(func() {
		_ = s.Process.Signal(syscall.SIGTERM) // it may have ended already
		<-s.ended
		_ = s.Wait()
	})
	for range 2 {
		select {
		case f := <-found:
			variable := name
			if f[0] == "admin" {
				variable += "_ADMIN"
			}
			ts.Setenv(variable, f[1])
		case <-s.ended:
			ts.Fatalf("the server ended:\n%s", ts.ReadFile(name+".err"))
		}
	}
}

// objectstore starts an object store with an empty bucket: versitygw, or with "ignores" moto,
// which ignores some conditions. Where these are not installed it is one in memory, unless
// MUSTER_REQUIRE=all requires them. With --cert FILE --key FILE it speaks TLS, and with
// --virtual-domain HOST it has its bucket at kept.HOST, too. With "talks" it is always the one in
// memory, finds no file, and sends more than its answers. The variable NAME is its address. The
// client's variables for credentials are set.
func objectstore(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: objectstore NAME [ignores | talks | --cert FILE --key FILE [--virtual-domain HOST]]")
	}
	for name, value := range buckettest.Variables() {
		ts.Setenv(name, value)
	}
	kind, ignores, rest := buckettest.Versity, slices.Contains(args, "ignores"), args[1:]
	if ignores {
		kind, rest = buckettest.Moto, nil
	}
	secure := map[string]string{}
	for i := 0; i+1 < len(rest); i += 2 {
		if flag := strings.TrimPrefix(rest[i], "--"); flag == "cert" || flag == "key" {
			rest[i+1] = ts.MkAbs(rest[i+1])
			secure[flag] = rest[i+1]
		}
	}
	talks := slices.Contains(args, "talks")
	if kind.Installed() && !talks {
		ts.Setenv(args[0], buckettest.Run(testOf(ts), kind, rest...).URL)
		return
	}
	store := buckettest.New()
	store.IgnoreParts = ignores
	if talks {
		store.Fault = talk
	}
	server := httptest.NewUnstartedServer(store)
	if secure["cert"] != "" {
		pair, err := tls.LoadX509KeyPair(secure["cert"], secure["key"])
		ts.Check(err)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		server.StartTLS()
	} else {
		server.Start()
	}
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// talk answers a GET with 404, and sends more than the answer.
func talk(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet {
		return false
	}
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	defer client.Close()
	_, _ = io.WriteString(client, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\nmore")
	_, _ = io.Copy(io.Discard, client) // until it closes the connection
	return true
}

// hosts starts an HTTP proxy that connects requests for HOST:443 with the server at ADDRESS, and
// refuses others. The variable NAME is the proxy's address.
func hosts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: hosts NAME HOST ADDRESS")
	}
	_, address, _ := strings.Cut(args[2], "://")
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != args[1]+":443" {
			http.Error(w, "another host", http.StatusForbidden)
			return
		}
		store, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer store.Close()
		w.WriteHeader(http.StatusOK)
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer client.Close()
		go func() {
			_, _ = io.Copy(store, client) // until one of them ends
			store.Close()
		}()
		_, _ = io.Copy(client, store)
	}))
	ts.Defer(proxy.CloseClientConnections)
	ts.Setenv(args[0], proxy.URL)
}

// end ends a server by a signal, and requires an exit status.
func end(ts *testscript.TestScript, neg bool, args []string) {
	servers, _ := ts.Value(serversKey{}).(map[string]*served)
	if neg || len(args) != 2 || servers[args[0]] == nil {
		ts.Fatalf("usage: end NAME TERM|KILL")
	}
	s := servers[args[0]]
	signal, want := syscall.SIGTERM, 0
	if args[1] == "KILL" {
		signal, want = syscall.SIGKILL, -1
	}
	ts.Check(s.Process.Signal(signal))
	<-s.ended
	_ = s.Wait() // ProcessState has its status
	if got := s.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit status %d after SIG%s, not %d:\n%s", got, args[1], want, ts.ReadFile(args[0]+".err"))
	}
}
