//go:build !linux

package service

import (
	"net"
	"runtime/pprof"
)

// A connection is a TCP connection that reports when it is closed.
type connection struct {
	*net.TCPConn
	closed func()
}

func newConnection(tcp *net.TCPConn, closed func()) (net.Conn, error) {
	return &connection{tcp, closed}, nil
}

// Close implements net.Conn.
func (c *connection) Close() error {
	err := c.TCPConn.Close()
	c.closed()
	return err
}

// osThreads counts the system threads that Go has started. Go keeps them.
func osThreads() int { return pprof.Lookup("threadcreate").Count() }
