package client

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"muster/regress/internal/fault"
)

type address struct {
	target string // in gRPC's form
	host   string
	secure bool
}

func (o Options) address() (address, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "":
		return address{}, fault.Inputf("%q is not the address of an engine, which speaks gRPC: %s://HOST:PORT", u.Redacted(), strings.Replace(u.Scheme, "http", "grpc", 1))
	case err != nil && strings.Contains(o.URL, "@"): // it may contain a password
		return address{}, fault.Inputf("what was given is not the address of an engine: grpc://HOST:PORT or grpcs://HOST:PORT")
	case err != nil:
		return address{}, fault.Inputf("%q is not the address of an engine: grpc://HOST:PORT or grpcs://HOST:PORT", o.URL)
	case u.Scheme != "grpc" && u.Scheme != "grpcs" || u.Hostname() == "":
		return address{}, fault.Inputf("%q is not the address of an engine: grpc://HOST:PORT or grpcs://HOST:PORT", u.Redacted())
	case u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return address{}, fault.Inputf("%s: only a host and a port belong into the address of an engine; an instance is named apart", u.Redacted())
	}
	at := address{host: u.Hostname(), secure: u.Scheme == "grpcs"}
	port := u.Port()
	if port == "" {
		if !at.secure {
			return address{}, fault.Inputf("%s names no port: grpc://HOST:PORT", o.URL)
		}
		port = "443"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return address{}, fault.Inputf("%s: no port has the number %s", o.URL, port)
	}
	resolver := "dns:///"
	if o.Dialer != nil {
		resolver = "passthrough:///"
	}
	at.target = resolver + net.JoinHostPort(strings.ReplaceAll(at.host, "%", "%25"), port)
	return at, o.checkSecrets(at)
}

// checkSecrets refuses to send the token unencrypted, and TLS options without TLS.
func (o Options) checkSecrets(at address) error {
	ip := net.ParseIP(at.host)
	here := at.host == "localhost" || strings.HasSuffix(at.host, ".localhost") || ip != nil && ip.IsLoopback()
	switch {
	case strings.ContainsFunc(o.Token, func(r rune) bool { return r < ' ' || r > '~' }):
		return fault.Inputf("the token has bytes that no header can have, a line's end perhaps")
	case o.Token != "" && !at.secure && !here && !o.PlainToken:
		return fault.Inputf("%s: the token would cross the network unencrypted: use grpcs://, or set MUSTER_REMOTE_TOKEN_PLAIN=1 on a network that is trusted", o.URL)
	case !at.secure && o.CA+o.Cert+o.Key != "":
		return fault.Inputf("%s: --tls-ca, --tls-cert and --tls-key are for grpcs://", o.URL)
	case (o.Cert == "") != (o.Key == ""):
		return fault.Inputf("a client's certificate and its key belong together: --tls-cert and --tls-key")
	}
	return nil
}
