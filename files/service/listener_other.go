//go:build !linux

package service

import "net"

// connection is one of TCP that says when it is closed.
type connection struct {
	*net.TCPConn
	closed func()
}

func newConnection(tcp *net.TCPConn, closed func()) (net.Conn, error) {
	return &connection{tcp, closed}, nil
}

// Close is that of net.Conn.
func (c *connection) Close() error {
	err := c.TCPConn.Close()
	c.closed()
	return err
}
