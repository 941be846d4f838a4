package service

import (
	"net"
	"sync"
)

// listener takes so many connections at a time; what comes beyond waits in the system for
// one to end.
type listener struct {
	*net.TCPListener
	connections chan struct{}
	ended       chan struct{}
	end         sync.Once
}

func newListener(l net.Listener, connectionsMax int) net.Listener {
	return &listener{
		TCPListener: l.(*net.TCPListener), connections: make(chan struct{}, connectionsMax),
		ended: make(chan struct{}),
	}
}

// Accept is that of net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.connections <- struct{}{}:
	case <-l.ended:
		return nil, net.ErrClosed
	}
	tcp, err := l.AcceptTCP()
	if err == nil {
		var c net.Conn
		if c, err = newConnection(tcp, sync.OnceFunc(l.leave)); err == nil {
			return c, nil
		}
	}
	l.leave()
	return nil, err
}

func (l *listener) leave() { <-l.connections }

// Close is that of net.Listener.
func (l *listener) Close() error {
	l.end.Do(func() { close(l.ended) })
	return l.TCPListener.Close()
}
