package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
)

// wire is a proxy between muster and the engine. It counts requests by method, and bytes on the
// connection. It does not decode messages, except those that its worker answers.
type wire struct {
	engine *grpc.ClientConn
	server *grpc.Server
	addr   string
	worker *worker // nil = the engine executes
	serves sync.WaitGroup

	sent, received atomic.Int64 // bytes, as muster sees it
	mu             sync.Mutex
	methods        map[string]calls
	lookups        [][]byte // requests for what is missing, as they came
}

// calls are the requests of one method.
type calls struct {
	count int64
	sent  int64 // bytes of messages from muster
}

// traffic is what passed since the last reset.
type traffic struct {
	sent, received int64 // bytes on the connection
	requests       int64
	methods        map[string]calls
	lookups        [][]byte
}

const messageMax = 64 << 20

func dial(target string, more ...grpc.DialOption) (*grpc.ClientConn, error) {
	more = append(more, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageMax)))
	return grpc.NewClient("passthrough:///"+target, more...)
}

// listen begins to pass on to the engine at target.
func listen(ctx context.Context, target string, w *worker) (*wire, error) {
	x := &wire{worker: w, methods: map[string]calls{}}
	var err error
	if x.engine, err = dial(target, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{}))); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, x.engine.Close())
	}
	x.addr = l.Addr().String()
	x.server = grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(x.pass), grpc.MaxRecvMsgSize(messageMax))
	x.serves.Go(func() { _ = x.server.Serve(&counted{l, x}) }) // its error is that it was stopped
	return x, nil
}

func (x *wire) close() error {
	x.server.Stop()
	x.serves.Wait()
	return x.engine.Close()
}

// reset returns what passed so far, and begins anew.
func (x *wire) reset() traffic {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := traffic{sent: x.sent.Swap(0), received: x.received.Swap(0), methods: x.methods, lookups: x.lookups}
	for _, c := range t.methods {
		t.requests += c.count
	}
	x.methods, x.lookups = map[string]calls{}, nil
	return t
}

func (x *wire) count(method string, sent int64, asked []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.methods[method]
	c.count, c.sent = c.count+1, c.sent+sent
	x.methods[method] = c
	if method == lookupMethod {
		x.lookups = append(x.lookups, asked)
	}
}

const lookupMethod = "FindMissingBlobs"

// pass is one request of any method.
func (x *wire) pass(_ any, in grpc.ServerStream) error {
	full, _ := grpc.MethodFromServerStream(in)
	method := path.Base(full)
	var first frame
	if err := in.RecvMsg(&first); err != nil {
		return err
	}
	r := relay{in: in, first: first.b}
	defer func() { x.count(method, r.sent.Load(), first.b) }()
	if x.worker != nil && method == "Execute" {
		r.sent.Store(int64(len(first.b)))
		if answer, err := x.worker.execute(in.Context(), first.b); err != nil {
			return err
		} else if answer != nil {
			return in.SendMsg(&frame{answer})
		}
	}
	return r.run(x.engine, full)
}

// relay passes the messages of one request both ways until the engine has ended it.
type relay struct {
	in    grpc.ServerStream
	first []byte // has been read already
	sent  atomic.Int64
}

func (r *relay) run(to *grpc.ClientConn, full string) error {
	md, _ := metadata.FromIncomingContext(r.in.Context())
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(r.in.Context(), md.Copy()))
	defer cancel()
	out, err := to.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, full)
	if err != nil {
		return err
	}
	go r.ask(out)
	for {
		var f frame
		if err := out.RecvMsg(&f); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := r.in.SendMsg(&f); err != nil {
			return err
		}
	}
}

// ask passes on what muster sends. Its errors are seen on the other way.
func (r *relay) ask(out grpc.ClientStream) {
	for f := (frame{r.first}); ; {
		r.sent.Add(int64(len(f.b)))
		if out.SendMsg(&f) != nil {
			return
		}
		f = frame{}
		if r.in.RecvMsg(&f) != nil {
			_ = out.CloseSend()
			return
		}
	}
}

// frame is a message as it came.
type frame struct{ b []byte }

// raw leaves messages as they are.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("%T is no frame", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(f.b)}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("%T is no frame", v)
	}
	f.b = data.Materialize()
	return nil
}

// counted has connections that count.
type counted struct {
	net.Listener
	x *wire
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connection{c, l.x}, nil
}

type connection struct {
	net.Conn
	x *wire
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.x.sent.Add(int64(n))
	return n, err
}

func (c *connection) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.x.received.Add(int64(n))
	return n, err
}
