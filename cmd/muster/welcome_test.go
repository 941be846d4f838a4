package main

import (
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/files/service"
	"muster/test/kits/enginetest"
)

// The commands of the welcome can be pasted, also with a token, which they do not contain.
func TestWelcome(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil && os.Getenv("MUSTER_REQUIRE") != "all" {
		t.Skip("curl is not installed")
	}
	for _, tokens := range [][]string{nil, {"secret"}} {
		store := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
		server := httptest.NewServer(files.NewServer(store, files.Options{Tokens: tokens}))
		defer server.Close()
		s := serveFlags{data: "kept", files: files.Options{Tokens: tokens}}
		text := s.welcome(server.URL+"/files/", nil)
		if strings.Contains(text, "secret") || !strings.Contains(text, "--admin 127.0.0.1:9998") {
			t.Errorf("with %d tokens:\n%s", len(tokens), text)
		}
		for _, c := range []struct{ name, want string }{{"put", ""}, {"get", "hello\n"}, {"list", `"name":"hello","size":6,`}} {
			_, rest, _ := strings.Cut(text, "\n"+c.name+" ")
			command, _, _ := strings.Cut(rest, "\n")
			shell := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, "curl ", "curl -sS -f ", 1))
			shell.Env = append(os.Environ(), tokenVariable+"=secret")
			if got, err := shell.CombinedOutput(); err != nil || !strings.Contains(string(got), c.want) {
				t.Errorf("%s printed %q: %v", command, got, err)
			}
		}
	}
}

// The commands work in every folder and in zsh, where brackets outside of quotes match names of files.
func TestWelcomeQuotes(t *testing.T) {
	t.Chdir(t.TempDir())
	s := serveFlags{data: "kept", service: service.Options{Certificate: "a b.pem"}}
	text := s.welcome("https://[::1]:9999/files/", &net.TCPAddr{IP: net.IPv6loopback, Port: 9998})
	for _, want := range []string{" -T - 'https://[::1]:9999/files/hello'", "/a b.pem' 'https://[::1]:9999/files/'\n", "curl 'http://[::1]:9998/metrics'\n", "--cacert '/"} {
		if !strings.Contains(text, want) {
			t.Errorf("the welcome lacks %q:\n%s", want, text)
		}
	}
}

func TestReachable(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", "0.0.0.0:80": "127.0.0.1:80", "[::1]:80": "[::1]:80", "192.0.2.1:80": "192.0.2.1:80"} {
		at, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(at); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}
