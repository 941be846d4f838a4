package main_test

import (
	"crypto/tls"
	"crypto/x509"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// proxy starts a proxy in front of the engine NAME; the variable VARIABLE is its address.
// Each fault is "METHOD COUNT DO": what is done to the requests of a method of the API ("*"
// is any) with these numbers, as 3, 2-5, 7- or *. What can be done:
//
//	answer CODE TEXT   it is answered with this status of gRPC
//	cut [BYTES]        all connections are cut, once it was sent on, or after so many of its
//	                   bytes and of its answer's
//	reset [BYTES]      so is this request alone
//	hold               it is not answered; the pipe $READY is told
//	late METHOD N      its answer waits for the Nth request of that method
//	end, restart, renew  the engine is killed once it has the request; and started again
//	                   with what it kept, or empty
//	gone               the proxy is there no more; the pipe $READY is told
//
// With --cert FILE --key FILE it speaks TLS, with --client-ca FILE to clients with such a
// certificate alone. --token TOKEN refuses other tokens and what has none.
func proxy(ts *testscript.TestScript, neg bool, args []string) {
	engines, ok := ts.Value(enginesKey{}).(map[string]*engineProcess)
	if neg || !ok || len(args) < 2 || engines[args[1]] == nil {
		ts.Fatalf("usage: proxy VARIABLE NAME [--cert FILE --key FILE [--client-ca FILE]] [--token TOKEN] [fault...]")
	}
	p := &proxyServer{engine: engines[args[1]], ready: ts.Getenv("READY"), seen: map[string]int{}, met: map[int]bool{}, changed: make(chan struct{})}
	secure := map[string]string{}
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		if flag, ok := strings.CutPrefix(rest[0], "--"); ok && len(rest) > 1 {
			secure[flag], rest = rest[1], rest[1:]
			continue
		}
		f, err := parseFault(rest[0])
		ts.Check(err)
		p.faults = append(p.faults, f)
	}
	p.token = secure["token"]
	config, err := serverTLS(ts, secure)
	ts.Check(err)
	ts.Check(p.listen())
	ts.Defer(p.serve(config))
	scheme := "grpc://"
	if config != nil {
		scheme = "grpcs://"
	}
	ts.Setenv(args[0], scheme+p.listener.Addr().String())
	if proxies, ok := ts.Value(proxiesKey{}).(map[string]*proxyServer); ok {
		proxies[args[0]] = p
	}
}

// proxiesKey is where a script's values hold its proxies by variable.
type proxiesKey struct{}

// struck fails if one of a proxy's faults met no request: the script proves nothing then.
func struck(ts *testscript.TestScript, neg bool, args []string) {
	proxies, ok := ts.Value(proxiesKey{}).(map[string]*proxyServer)
	if neg || !ok || len(args) != 1 || proxies[args[0]] == nil {
		ts.Fatalf("usage: struck VARIABLE")
	}
	p := proxies[args[0]]
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, f := range p.faults {
		if !p.met[i] {
			ts.Fatalf("%s %d %s met no request; there were %v", f.method, f.first, f.do, p.seen)
		}
	}
}

func serverTLS(ts *testscript.TestScript, files map[string]string) (*tls.Config, error) {
	if files["cert"] == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(ts.MkAbs(files["cert"]), ts.MkAbs(files["key"]))
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	if files["client-ca"] != "" {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		config.ClientCAs.AppendCertsFromPEM([]byte(ts.ReadFile(files["client-ca"])))
	}
	return config, err
}
