package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// An exchange is connections over loopback, and at the other end of each a goroutine that
// decodes every message, encodes it again and sends it back. Both ends are in this
// process, so the processors are shared as on a machine that runs client and server.
type exchange struct {
	codec   codec
	size    int
	clients []*wire
}

func newExchange(c codec, connections, size int) *exchange {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	defer listener.Close()
	e := &exchange{codec: c, size: size}
	for range connections {
		client, err := net.Dial("tcp", listener.Addr().String())
		must(err)
		server, err := listener.Accept()
		must(err)
		e.clients = append(e.clients, newWire(client))
		go e.serve(newWire(server))
	}
	return e
}

func (e *exchange) serve(w *wire) {
	for {
		m, err := w.receive(e.codec)
		if errors.Is(err, io.EOF) {
			return
		}
		must(err)
		must(w.send(e.codec, m))
	}
}

// echo has one connection's client send n messages, each after the answer to the last.
func (e *exchange) echo(connection, n int) {
	w, m := e.clients[connection], newMessage(0, e.size)
	for i := range n {
		m.ID = uint64(i)
		must(w.send(e.codec, m))
		got, err := w.receive(e.codec)
		must(err)
		must(same(m, got))
	}
}

func (e *exchange) close() {
	for _, w := range e.clients {
		must(w.conn.Close())
	}
}

// A wire carries messages, each behind its length in four bytes.
type wire struct {
	conn   net.Conn
	in     *bufio.Reader
	frame  []byte
	packet []byte
}

func newWire(c net.Conn) *wire { return &wire{conn: c, in: bufio.NewReader(c)} }

func (w *wire) send(c codec, m message) error {
	data, err := c.encode(m)
	if err != nil {
		return err
	}
	w.packet = binary.BigEndian.AppendUint32(w.packet[:0], uint32(len(data)))
	w.packet = append(w.packet, data...)
	_, err = w.conn.Write(w.packet)
	return err
}

func (w *wire) receive(c codec) (message, error) {
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return message{}, err
	}
	n := int(binary.BigEndian.Uint32(head[:]))
	if cap(w.frame) < n {
		w.frame = make([]byte, n)
	}
	w.frame = w.frame[:n]
	if _, err := io.ReadFull(w.in, w.frame); err != nil {
		return message{}, err
	}
	return c.decode(w.frame)
}
