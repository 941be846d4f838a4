// Package wording replaces error texts of Go's library by plain words: what happened, and what
// to do. It must not know who reads them.
package wording

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
	"path/filepath"
	"regexp/syntax"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/internal/readable"
)

// Of returns the text of err with plain words instead of those of Go's library. The functions
// in own take precedence. Each returns the words for one error, or "" for an error that it
// does not know.
func Of(err error, own ...func(error) string) string {
	text := err.Error()
	own = append(own, describe)
	for _, e := range chain(err) { // err's text contains the text of each wrapped error
		for _, words := range own {
			if w := words(e); w != "" {
				text = strings.ReplaceAll(text, e.Error(), w)
				break
			}
		}
	}
	// A gRPC status contains only the text of its cause, so replace this part too.
	return strings.NewReplacer("dial tcp ", "", ": connect: ", ": ").Replace(text)
}

// chain lists err and all errors that it wraps, the outermost first.
func chain(err error) []error {
	list := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			list = append(list, chain(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			list = append(list, chain(inner)...)
		}
	}
	return list
}

// describe returns plain words for one error of Go's library, or "" for any other error.
func describe(err error) string {
	switch e := err.(type) {
	case *strconv.NumError:
		return numberWords(e)
	case *syntax.Error:
		return fmt.Sprintf("not a valid regular expression: %s: %s", e.Code, e.Expr)
	case *url.Error:
		return withoutUser(e.URL) + ": " + e.Err.Error()
	case *net.OpError:
		return networkWords(e)
	case *net.AddrError:
		return e.Err
	case *fs.PathError:
		return fileWords(e.Op, e.Path, e.Err)
	case *os.LinkError:
		return fileWords(e.Op, e.New, e.Err)
	case *os.SyscallError:
		return e.Err.Error()
	case *http.MaxBytesError:
		return "the content is larger than " + readable.BinarySize(e.Limit) + ", the most that the server takes"
	case *tls.CertificateVerificationError:
		return "the server's certificate " + certificateWords(e.Err)
	case tls.RecordHeaderError:
		if isHandshake(e) {
			return withoutTLS
		}
		return "the encrypted connection was damaged"
	}
	if err == http.ErrSchemeMismatch {
		return withoutTLS
	}
	return ""
}

const withoutTLS = "the server does not speak TLS: use http:// in the address"

// RefusedTLS reports whether a server answered but TLS with it is not possible. The text of Of then says what to do,
// so callers add no advice of their own.
func RefusedTLS(err error) bool {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	record, isRecord := errors.AsType[tls.RecordHeaderError](err)
	return certificate || isRecord && isHandshake(record) || errors.Is(err, http.ErrSchemeMismatch)
}

// isHandshake reports whether an error is about the first answer of a server. A later one was damaged on its way.
func isHandshake(e tls.RecordHeaderError) bool { return e.Conn != nil }

// withoutUser removes the user and the password from an address, which may not be a valid one.
func withoutUser(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	path := strings.IndexAny(rest+"/", "/?#")
	return scheme + "://" + rest[strings.LastIndex(rest[:path], "@")+1:]
}

func numberWords(e *strconv.NumError) string {
	switch {
	case errors.Is(e.Err, strconv.ErrRange):
		return fmt.Sprintf("%q is out of range", e.Num)
	case e.Func == "ParseBool":
		return fmt.Sprintf("%q is neither true nor false", e.Num)
	}
	return fmt.Sprintf("%q is not a number", e.Num)
}

func networkWords(e *net.OpError) string {
	if e.Op == "proxyconnect" {
		return "the proxy server that HTTPS_PROXY or HTTP_PROXY names: " + Of(e.Err)
	}
	reason := e.Err.Error()
	var unknown *net.DNSError
	var errno syscall.Errno
	switch {
	case errors.As(e.Err, &unknown) && unknown.IsNotFound:
		return fmt.Sprintf("no machine has the name %s", unknown.Name)
	case errors.As(e.Err, &unknown):
		return fmt.Sprintf("the name %s cannot be looked up", unknown.Name)
	case errors.As(e.Err, &errno):
		reason = errno.Error()
	case e.Timeout():
		reason = "no answer in time"
	}
	if e.Op == "listen" {
		reason += ": name another address or port"
	}
	if e.Addr == nil {
		return reason
	}
	return e.Addr.String() + ": " + reason
}

// certificateWords describes why a certificate was refused.
func certificateWords(err error) string {
	host, elsewhere := errors.AsType[x509.HostnameError](err)
	invalid, ok := errors.AsType[x509.CertificateInvalidError](err)
	expired := ok && invalid.Reason == x509.Expired
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, trustless := errors.AsType[x509.SystemRootsError](err)
	switch {
	case elsewhere && len(host.Certificate.DNSNames)+len(host.Certificate.IPAddresses) == 0:
		return "names no host: renew it with the host as a subject alternative name"
	case elsewhere:
		return "is for another host: use the name of that host in the address"
	case expired && time.Now().Before(invalid.Cert.NotBefore):
		return "is not valid yet, or this machine's clock is wrong: set the clock"
	case expired:
		return "has expired, or this machine's clock is wrong: renew the certificate, or set the clock"
	case unknown || trustless:
		return "is of an authority that this machine does not trust: set SSL_CERT_FILE to the file with the authority's certificate"
	}
	return "is not valid (" + strings.TrimPrefix(err.Error(), "x509: ") + "): renew it"
}

// fileWords describes why an operation on a file failed.
func fileWords(op, path string, err error) string {
	folder := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (op == "open" || op == "mkdir") && isMissing(folder): // a server has other names for these
		return fmt.Sprintf("the folder %s does not exist: make it, or name another", folder)
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist"
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("%s needs a folder where a file exists: name another path", path)
	case errors.Is(err, syscall.EISDIR):
		return path + " is a folder: name a file"
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("you may not use %s: change its permissions, or name another", path)
	}
	return path + ": " + err.Error()
}

func isMissing(folder string) bool {
	_, err := os.Stat(folder)
	return errors.Is(err, fs.ErrNotExist)
}
