package client

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"muster/regress/internal/fault"
)

// keepaliveEvery is the time between two pings of a connection. Servers close connections that
// ping more often than every five minutes, the usual limit. A silent execution is queried
// sooner (Options.Silence).
const keepaliveEvery = 5*time.Minute + 10*time.Second

// messageMax is the largest accepted message in bytes: four times the largest batch.
const messageMax = 16 << 20

func (o Options) dialOptions(at address) ([]grpc.DialOption, error) {
	secure, err := o.credentials(at)
	if err != nil {
		return nil, err
	}
	with := interceptors{o}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(secure),
		grpc.WithUserAgent("muster/" + o.Version),
		grpc.WithDisableServiceConfig(),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveEvery, Timeout: 20 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: o.Backoff, Multiplier: 1.6, Jitter: 0.2, MaxDelay: o.BackoffMax},
			MinConnectTimeout: min(o.Deadline, 20*time.Second),
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageMax)),
		grpc.WithUnaryInterceptor(with.unary),
		grpc.WithStreamInterceptor(with.stream),
	}
	if o.Dialer != nil {
		options = append(options, grpc.WithContextDialer(o.Dialer))
	}
	return options, nil
}

func (o Options) credentials(at address) (credentials.TransportCredentials, error) {
	if !at.secure {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fault.Inputf("--tls-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fault.Inputf("--tls-ca: %s has no certificate in PEM", o.CA)
		}
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fault.Inputf("--tls-cert and --tls-key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(config), nil
}
