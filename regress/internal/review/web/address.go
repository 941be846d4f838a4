package web

import (
	"crypto/tls"
	"net"
	"slices"
	"strings"

	"muster/regress/internal/fault"
)

// reach describes which hosts and names lead to an address.
type reach struct {
	local  bool // only this machine
	names  []string
	config *tls.Config // nil without TLS
}

// check returns the reach of the address. It refuses an address on which others could read
// along.
func (o *Options) check() (r reach, err error) {
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return r, fault.Inputf("--web %q: it is HOST:PORT, as in 127.0.0.1:8080: %w", o.Addr, err)
	}
	r.local = isLoopback(host)
	if (o.Certificate == "") != (o.Key == "") {
		return r, fault.Inputf("--tls-cert and --tls-key belong together: give both, or none")
	}
	if !r.local && o.Certificate == "" && !o.InTheClear {
		return r, fault.Inputf("--web %s: others reach this address, and could read along: give a certificate (--tls-cert, --tls-key), or say --in-the-clear", o.Addr)
	}
	if o.Certificate == "" {
		return r, nil
	}
	pair, err := tls.LoadX509KeyPair(o.Certificate, o.Key)
	if err != nil {
		return r, fault.Inputf("--tls-cert %s, --tls-key %s: %w", o.Certificate, o.Key, err)
	}
	r.names = pair.Leaf.DNSNames
	r.config = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return r, nil
}

// knows reports whether a request's host belongs to this page. Another page can make its own
// name lead here (DNS rebinding), but it cannot do so with an address. So any address is as
// good as a known name.
func (r reach) knows(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil { // the host has no port
		host = hostport
	}
	host = strings.Trim(host, "[]")
	return isLoopback(host) || !r.local && net.ParseIP(host) != nil || slices.ContainsFunc(r.names, func(name string) bool { return strings.EqualFold(name, host) })
}

// isLoopback reports whether a host always means the asking machine itself.
func isLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// origin returns the beginning of the link. It replaces an address that stands for all
// interfaces by one that a browser can open.
func (r reach) origin(at net.Addr) string {
	scheme, host, port := "http", "", ""
	if r.config != nil {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(at.String())
	switch ip := net.ParseIP(host); {
	case err != nil:
		return scheme + "://" + at.String()
	case len(r.names) > 0 && !r.local:
		host = strings.Replace(r.names[0], "*", "review", 1)
	case ip != nil && ip.IsUnspecified():
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
