package client

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"hash"
	"io"
	"os"
	"strings"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

// Open returns a content as a stream. After a break it continues where it was. If the content
// does not match its digest, the stream ends with an error instead of io.EOF. If the engine
// lacks the content, the error wraps a MissingError. ctx applies to all reads.
func (c *Client) Open(ctx context.Context, d blob.Digest) (io.ReadCloser, error) {
	return &streamRead{c: c, ctx: ctx, d: d, sum: sha256.New(), tries: c.retries()}, nil
}

// streamRead reads one content. body is the stream of an attempt, or nil before and between
// attempts.
type streamRead struct {
	c      *Client
	ctx    context.Context
	d      blob.Digest
	sum    hash.Hash
	offset int64
	gained int64 // bytes since the attempts were last counted anew
	tries  *retries
	body   io.ReadCloser
	end    error
}

// gainMin is the progress in bytes after which attempts are counted anew. Without a bound, streams that always break
// after one byte would go on for ever.
const gainMin = 128 << 10

func (r *streamRead) Read(p []byte) (int, error) {
	for r.end == nil && len(p) > 0 {
		if r.body == nil && r.offset < r.d.Size {
			r.body = r.c.stream(r.ctx, r.d, r.offset)
		}
		n, err := r.step(p)
		if n > 0 {
			r.sum.Write(p[:n])
			r.offset += int64(n)
			if r.gained += int64(n); r.gained >= gainMin {
				r.gained = 0
				r.tries.progressed()
			}
		}
		if err != nil {
			r.stop(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, r.end
}

// step reads at most one byte beyond the expected end, to detect a longer content.
func (r *streamRead) step(p []byte) (int, error) {
	if r.body == nil {
		return 0, io.EOF
	}
	if left := r.d.Size - r.offset; int64(len(p))-1 > left {
		p = p[:left+1]
	}
	n, err := r.body.Read(p)
	if r.offset+int64(n) > r.d.Size {
		return 0, errDigest
	}
	return n, err
}

// stop ends an attempt. It ends the reading too, unless another attempt follows.
func (r *streamRead) stop(err error) {
	if r.body != nil {
		r.body.Close()
		r.body = nil
	}
	switch {
	case err == io.EOF && r.offset < r.d.Size:
		err = transient{io.ErrUnexpectedEOF}
	case err == io.EOF && [sha256.Size]byte(r.sum.Sum(nil)) == r.d.Hash:
		r.end = io.EOF
		return
	case err == io.EOF:
		err = errDigest
	case blobGone(err):
		err = &MissingError{[]blob.Digest{r.d}, err}
	}
	r.end = r.tries.again(r.ctx, readingBlob, err)
}

func (r *streamRead) Close() error {
	if r.body != nil {
		r.body.Close()
		r.body = nil
	}
	if r.end == nil {
		r.end = io.ErrClosedPipe
	}
	return nil
}

// stream opens one attempt.
func (c *Client) stream(ctx context.Context, d blob.Digest, offset int64) io.ReadCloser {
	in := &chunkReader{watch: c.watchdog(ctx), room: compressedMax(d.Size - offset)}
	in.stream, in.err = c.byteStream.Read(in.watch.ctx, &bytestream.ReadRequest{ResourceName: c.resource("", d), ReadOffset: offset})
	if !c.limit.zstdStream {
		return in
	}
	return &zstdReader{newDecoder(in).IOReadCloser(), in}
}

// compressedMax is the largest compressed size of a content: compression hardly makes it
// larger.
func compressedMax(size int64) int64 { return size + size/64 + 1<<20 }

// chunkReader makes a reader of the stream.
type chunkReader struct {
	watch  *watchdog
	room   int64 // bytes that may still come
	stream bytestream.ByteStream_ReadClient
	rest   []byte
	err    error
}

func (s *chunkReader) Read(p []byte) (int, error) {
	for len(s.rest) == 0 && s.err == nil {
		var reply *bytestream.ReadResponse
		if reply, s.err = s.stream.Recv(); len(reply.GetData()) == 0 {
			continue // this is no progress
		}
		s.watch.progressed()
		s.rest = reply.GetData()
		if s.room -= int64(len(s.rest)); s.room < 0 {
			s.rest, s.err = nil, errDigest
		}
	}
	if len(s.rest) > 0 {
		n := copy(p, s.rest)
		s.rest = s.rest[n:]
		return n, nil
	}
	return 0, s.watch.cause(s.err)
}

func (s *chunkReader) Close() error {
	s.watch.end()
	return nil
}

type zstdReader struct {
	io.ReadCloser
	in *chunkReader
}

// Read returns the stream's own error. Invalid zstd counts as a temporary failure.
func (u *zstdReader) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = transient{errDigest}
		if cut := u.in.err; cut != nil && cut != io.EOF {
			err = u.in.watch.cause(cut)
		}
	}
	return n, err
}

func (u *zstdReader) Close() error {
	u.ReadCloser.Close()
	return u.in.Close()
}

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
			return nil, fault.Inputf("[engine] tls-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fault.Inputf("[engine] tls-ca: %s has no certificate in PEM", o.CA)
		}
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fault.Inputf("[engine] tls-cert and tls-key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(config), nil
}

// interceptors add metadata and a deadline to every request.
type interceptors struct{ o Options }

type actionKey struct{}

// targetMax bounds the description of an action, in bytes, because proxies have little room for
// headers.
const targetMax = 200

// ofAction marks the requests under ctx as belonging to one action.
func ofAction(ctx context.Context, x Execution) context.Context {
	return context.WithValue(ctx, actionKey{}, x)
}

func (i interceptors) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(i.put(ctx), i.o.Deadline)
	defer cancel()
	return invoke(ctx, method, req, reply, conn, opts...)
}

func (i interceptors) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return open(i.put(ctx), desc, conn, method, opts...)
}

func (i interceptors) put(ctx context.Context) context.Context {
	m := &repb.RequestMetadata{
		ToolDetails:      &repb.ToolDetails{ToolName: "muster", ToolVersion: i.o.Version},
		ToolInvocationId: i.o.Invocation,
	}
	if x, ok := ctx.Value(actionKey{}).(Execution); ok {
		m.ActionId, m.TargetId = x.Action.Hash.String(), strings.ToValidUTF8(x.Target[:min(len(x.Target), targetMax)], "")
	}
	about, err := proto.Marshal(m)
	// only text that is not UTF-8 fails, and the engine can do without it
	if err != nil {
		about = nil
	}
	pairs := []string{"build.bazel.remote.execution.v2.requestmetadata-bin", string(about)}
	if i.o.Token != "" {
		pairs = append(pairs, "authorization", "Bearer "+i.o.Token)
	}
	for _, l := range i.o.Headers {
		pairs = append(pairs, l.Name, l.Value)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}
