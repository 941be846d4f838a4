//go:build !linux

package service

import "net"

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
