package service

import (
	"net"
	"sync"
)

// A listener accepts at most connectionsMax connections at a time. Further connections wait in
// the system.
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

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.connections <- struct{}{}:
	case <-l.ended:
		return nil, net.ErrClosed
	}
	tcp, err := l.AcceptTCP()
	if err == nil {
		var c net.Conn
		if c, err = newConnection(tcp, sync.OnceFunc(l.release)); err == nil {
			return c, nil
		}
	}
	l.release()
	return nil, err
}

func (l *listener) release() { <-l.connections }

// Close implements net.Listener.
func (l *listener) Close() error {
	l.end.Do(func() { close(l.ended) })
	return l.TCPListener.Close()
}
