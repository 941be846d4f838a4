package reapitest

import (
	"cmp"
	"context"
	"path"

	"google.golang.org/grpc"
)

// Moment is a point in a request at which a fault can occur.
type Moment int

// The moments in their order. A stream has some of them several times.
const (
	Begin    Moment = iota
	Received        // a message came, and nothing was done with it
	Sending         // a message is about to be sent
	End             // everything is done, and the client does not know it
)

// Call is one moment of one request.
type Call struct {
	Method  string // name without the service, such as "Execute"
	Number  int    // number of the request among those of its method, from 1
	Moment  Moment
	Message int // number of the message that came or goes, from 1
}

// Calls returns the number of requests of a method so far.
func (e *Engine) Calls(method string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls[method]
}

func (e *Engine) fault(ctx context.Context, c Call) error {
	if e.o.Fault == nil {
		return nil
	}
	return e.o.Fault(ctx, c)
}

func (e *Engine) begin(full string) Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	method := path.Base(full)
	e.calls[method]++
	return Call{Method: method, Number: e.calls[method]}
}

func (e *Engine) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	c := e.begin(info.FullMethod)
	if err := cmp.Or(checkMetadata(ctx), e.validate(req), e.fault(ctx, c)); err != nil {
		return nil, err
	}
	reply, err := handle(ctx, req)
	if c.Moment = End; err == nil {
		err = e.fault(ctx, c)
	}
	return reply, err
}

func (e *Engine) stream(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	c := e.begin(info.FullMethod)
	if err := cmp.Or(checkMetadata(s.Context()), e.fault(s.Context(), c)); err != nil {
		return err
	}
	err := handle(srv, &faultyStream{ServerStream: s, e: e, c: c})
	if c.Moment = End; err == nil {
		err = e.fault(s.Context(), c)
	}
	return err
}

// A faultyStream stream reports its messages to Options.Fault. One goroutine uses it, and receives
// and sends in turns.
type faultyStream struct {
	grpc.ServerStream
	e              *Engine
	c              Call
	received, sent int
}

func (w *faultyStream) RecvMsg(m any) error {
	if err := w.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	w.received++
	w.c.Moment, w.c.Message = Received, w.received
	return cmp.Or(w.e.validate(m), w.e.fault(w.Context(), w.c))
}

func (w *faultyStream) SendMsg(m any) error {
	w.sent++
	w.c.Moment, w.c.Message = Sending, w.sent
	if err := w.e.fault(w.Context(), w.c); err != nil {
		return err
	}
	return w.ServerStream.SendMsg(m)
}
