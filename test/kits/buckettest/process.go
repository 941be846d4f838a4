package buckettest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// A Kind is an object store of others, which scripts/object-stores installs. A new one also needs its
// place, its command, and a line in TestServers of package bucket.
type Kind string

const (
	Versity Kind = "versitygw" // keeps a bucket in a folder, and obeys conditions
	Minio   Kind = "minio"     // ignores conditions of a delete; only make long installs it
	Moto    Kind = "moto"      // ignores conditions of an upload in parts
)

// place returns where it is in the cache of test tools.
func (k Kind) place() string {
	return map[Kind]string{
		Versity: "versitygw-1.8.0/versitygw", Minio: "minio-v0.0.0-20260212201848-7aac2a2c5b7c/minio", Moto: "moto-5.2.5",
	}[k]
}

// command returns the words that start it. extra are further arguments.
func (k Kind) command(place, address, folder string, extra []string) []string {
	key, secret := Variables()["AWS_ACCESS_KEY_ID"], Variables()["AWS_SECRET_ACCESS_KEY"]
	switch k {
	case Versity:
		words := []string{place, "--access", key, "--secret", secret, "--port", address, "--keep-alive"}
		return append(append(words, extra...), "posix", folder)
	case Minio:
		words := []string{"env", "MINIO_ROOT_USER=" + key, "MINIO_ROOT_PASSWORD=" + secret, place, "server", "--quiet", "--address", address}
		return append(append(words, extra...), folder)
	default:
		host, port, _ := net.SplitHostPort(address) // it is one
		return append([]string{"env", "PYTHONPATH=" + place, "python3", "-m", "moto.server", "-H", host, "-p", port}, extra...)
	}
}

// find returns where the object store is installed. It skips the test if it is not, or fails it if
// MUSTER_REQUIRE=all requires everything.
func (k Kind) find(t testing.TB) string {
	t.Helper()
	place, err := k.look()
	if err == nil {
		return place
	}
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("%v: scripts/object-stores installs it", err)
	}
	t.Skipf("%v: scripts/object-stores installs it", err)
	return ""
}

// Installed reports whether the object store is installed, or must be.
func (k Kind) Installed() bool {
	_, err := k.look()
	return err == nil || os.Getenv("MUSTER_REQUIRE") == "all"
}

func (k Kind) look() (string, error) {
	cache := os.Getenv("MUSTER_TEST_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(user, "muster-test")
	}
	place := filepath.Join(cache, k.place())
	_, err := os.Stat(place)
	return place, err
}

// A Process is an object store of others that runs beside the test.
type Process struct {
	URL    string
	Folder string // with its files

	command []string
	running *exec.Cmd
	log     bytes.Buffer
	ended   chan struct{}
}

// Run starts an object store, which ends with the test. extra are further arguments, such as
// --cert FILE.
func Run(t testing.TB, k Kind, extra ...string) *Process {
	t.Helper()
	place := k.find(t)
	address := Reserve(t)
	p := &Process{URL: "http://" + address, Folder: t.TempDir()}
	if err := os.Mkdir(filepath.Join(p.Folder, Bucket), 0o755); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(extra, "--cert") {
		p.URL = "https://" + address
	}
	p.command = k.command(place, address, p.Folder, extra)
	p.Start(t)
	t.Cleanup(p.Kill)
	if k == Moto { // it has no folder
		if status, err := p.ask(http.MethodPut, "/"+Bucket); status != http.StatusOK {
			t.Fatal(status, err)
		}
	}
	return p
}

// Reserve returns an address whose port the system gives to no other program until the end of the test,
// even while the test's server does not run. A socket is bound to the address and does not listen.
// SO_REUSEADDR lets a program that asks for this address listen there.
func Reserve(t testing.TB) string {
	t.Helper()
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	err = errors.Join(err, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name, nameErr := syscall.Getsockname(fd)
	at, ok := name.(*syscall.SockaddrInet4)
	if err := errors.Join(err, nameErr); err != nil || !ok {
		t.Fatal(name, err)
	}
	return fmt.Sprint("127.0.0.1:", at.Port)
}

// Start starts the object store at its address, with its folder, and returns when it answers.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	p.log.Reset()
	p.running = exec.CommandContext(context.WithoutCancel(t.Context()), p.command[0], p.command[1:]...)
	p.running.Stdout, p.running.Stderr = &p.log, &p.log
	if err := p.running.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	p.ended = ended
	go func() {
		_ = p.running.Wait() // nobody asks for its status
		close(ended)
	}()
	for {
		if status, err := p.ask(http.MethodGet, "/"); err == nil && status < http.StatusInternalServerError {
			return
		}
		select {
		case <-ended:
			t.Fatalf("%v ended:\n%s", p.command, p.log.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Kill ends the object store at once.
func (p *Process) Kill() {
	_ = p.running.Process.Kill() // it may have ended already
	<-p.ended
}

// ask sends a request without a signature, and returns the status of the answer.
func (p *Process) ask(method, path string) (int, error) {
	r, err := http.NewRequest(method, p.URL+path, nil)
	if err != nil {
		return 0, err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	got, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	return got.StatusCode, got.Body.Close()
}
