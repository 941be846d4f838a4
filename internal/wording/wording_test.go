package wording_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"muster/internal/wording"
)

func TestOf(t *testing.T) {
	folder := t.TempDir()
	_, number := strconv.Atoi("x")
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("a plain sentence"), "a plain sentence"},
		{fmt.Errorf("--jobs: %w: give another", number), `--jobs: "x" is not a number: give another`},
		{&fs.PathError{Op: "open", Path: folder + "/no/x", Err: syscall.ENOENT}, "the folder " + folder + "/no does not exist: make it, or name another"},
		{&fs.PathError{Op: "open", Path: folder + "/x", Err: syscall.ENOENT}, folder + "/x does not exist"},
		{&os.LinkError{Op: "rename", Old: "a", New: folder, Err: syscall.EISDIR}, folder + " is a folder: name a file"},
		{&os.SyscallError{Syscall: "pidfd_open", Err: syscall.EMFILE}, "too many open files"},
		{
			fmt.Errorf("the lane: %w", &fs.PathError{Op: "fork/exec", Path: "/tool", Err: syscall.EACCES}),
			"the lane: you may not use /tool: change its permissions, or name another",
		},
		{
			&url.Error{Op: "Get", URL: "http://a", Err: &net.OpError{Op: "dial", Net: "tcp", Addr: address("a:80"), Err: &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}}},
			"http://a: a:80: connection refused",
		},
		{
			&url.Error{Op: "Get", URL: "http://a", Err: &net.OpError{Op: "proxyconnect", Net: "tcp", Err: tls.RecordHeaderError{Conn: &net.TCPConn{}}}},
			"http://a: the proxy server that HTTPS_PROXY or HTTP_PROXY names: the server does not speak TLS: use http:// in the address",
		},
		{&url.Error{Op: "parse", URL: "http://me:a@b@[::1/x@y", Err: errors.New("no ]")}, "http://[::1/x@y: no ]"},
		{&url.Error{Op: "parse", URL: "me@b", Err: errors.New("no")}, "me@b: no"},
		{&http.MaxBytesError{Limit: 3 << 29}, "the content is larger than 1.5 GiB, the most that the server takes"},
		{errors.Join(syscall.ENOSPC, &fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}), "no space left on device\n/x: no space left on device"},
	} {
		if got := wording.Of(c.err); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.err, got, c.want)
		}
	}
}

// The caller's words take precedence.
func TestOwn(t *testing.T) {
	own := func(err error) string {
		if _, is := err.(*fs.PathError); is {
			return "it is there"
		}
		return ""
	}
	if got := wording.Of(fmt.Errorf("x: %w", &fs.PathError{Op: "mkdir", Path: "a", Err: syscall.EEXIST}), own); got != "x: it is there" {
		t.Error(got)
	}
}

// Each reason for a refused certificate has its own words and mend.
func TestCertificate(t *testing.T) {
	named := &x509.Certificate{DNSNames: []string{"a"}}
	later := &x509.Certificate{NotBefore: time.Now().Add(time.Hour)}
	for _, c := range []struct {
		err  error
		want string
	}{
		{x509.HostnameError{Certificate: named, Host: "b"}, "is for another host: use the name of that host in the address"},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "b"}, "names no host: renew it with the host as a subject alternative name"},
		{x509.CertificateInvalidError{Cert: named, Reason: x509.Expired}, "has expired, or this machine's clock is wrong: renew the certificate, or set the clock"},
		{x509.CertificateInvalidError{Cert: later, Reason: x509.Expired}, "is not valid yet, or this machine's clock is wrong: set the clock"},
		{x509.CertificateInvalidError{Cert: named, Reason: x509.IncompatibleUsage}, "is not valid (certificate specifies an incompatible key usage): renew it"},
		{x509.UnhandledCriticalExtension{}, "is not valid (unhandled critical extension): renew it"},
		{x509.UnknownAuthorityError{Cert: named}, "is of an authority that this machine does not trust: set SSL_CERT_FILE to the file with the authority's certificate"},
	} {
		err := &tls.CertificateVerificationError{Err: c.err}
		if got, want := wording.Of(err), "the server's certificate "+c.want; got != want || !wording.RefusedTLS(err) {
			t.Errorf("%v:\n%s\nwant\n%s", c.err, got, want)
		}
	}
}

// Only the first answer of a server shows that it does not speak TLS. After a later one, a repetition may help.
func TestRefusedTLS(t *testing.T) {
	first := tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake", Conn: &net.TCPConn{}}
	if got := wording.Of(first); !wording.RefusedTLS(first) || got != "the server does not speak TLS: use http:// in the address" {
		t.Error(got)
	}
	later := tls.RecordHeaderError{Msg: "oversized record received with length 20527"}
	if got := wording.Of(later); wording.RefusedTLS(later) || got != "the encrypted connection was damaged" {
		t.Error(got)
	}
}

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }
