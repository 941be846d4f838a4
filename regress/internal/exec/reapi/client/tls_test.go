package client_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"muster/regress"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

// identity is a certificate that signs itself, in memory and in files.
type identity struct {
	pair      tls.Certificate
	cert, key string
}

func newIdentity(t *testing.T) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	id := identity{cert: filepath.Join(t.TempDir(), "cert.pem"), key: filepath.Join(t.TempDir(), "key.pem")}
	certPEM, keyPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	for file, data := range map[string][]byte{id.cert: certPEM, id.key: keyPEM} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if id.pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestTLS(t *testing.T) {
	server, me, other := newIdentity(t), newIdentity(t), newIdentity(t)
	known := x509.NewCertPool()
	pemOf, _ := os.ReadFile(me.cert)
	known.AppendCertsFromPEM(pemOf)
	e := reapitest.New(reapitest.Options{Server: []grpc.ServerOption{grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{server.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known,
	}))}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Serve(l)()
	at := l.Addr().String()
	for name, c := range map[string]struct {
		o    client.Options
		want string // in the error
	}{
		"right":             {client.Options{URL: "grpcs://" + at, CA: server.cert, Cert: me.cert, Key: me.key, Token: "secret"}, ""},
		"unknown server":    {client.Options{URL: "grpcs://" + at, CA: other.cert, Cert: me.cert, Key: me.key}, "asking what it can do: Unavailable: certificate signed by unknown authority; tls-ca of [engine] names"},
		"unknown client":    {client.Options{URL: "grpcs://" + at, CA: server.cert, Cert: other.cert, Key: other.key}, at}, // what the server says gets lost now and then,
		"TLS is not spoken": {client.Options{URL: "grpc://" + at}, "grpcs:// in --remote speaks TLS"},
	} {
		c.o.Sleep = (&rig{}).sleep
		got, err := client.Dial(t.Context(), c.o)
		if err == nil {
			got.Close()
		}
		switch {
		case name == "right":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		case name == "unknown server" && client.Unreachable(err):
			t.Errorf("%s: no engine seems to answer: %v", name, err)
		}
	}
}
