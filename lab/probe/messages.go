package probe

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"slices"

	"google.golang.org/protobuf/proto"

	"muster/lab/results"
	"muster/pool"
)

// Codec encodes and decodes messages: requests of a file service with a number, a name and a body.
type Codec struct {
	Impl string // one of Codecs
	Size int    // of the body, in bytes
	Ops  int
}

// Echo sends messages over loopback connections. On each, a client waits for the answer to a message
// before it sends the next one. The other end decodes each message, encodes it again and sends it
// back. Both ends are in this process, so one operation includes two of each. If Ops is not a multiple
// of Connections, the remainder is left out.
type Echo struct {
	Impl             string // one of Codecs
	Size             int    // of the body, in bytes
	Connections, Ops int
}

// Codecs returns the names of the encodings.
func Codecs() []string { return []string{"protobuf", "json"} }

// messageWarmUp is the largest number of messages before the clock starts.
const messageWarmUp = 100_000

func (o Codec) measure(Input) (s results.Sample, err error) {
	c, err := newCodec(o.Impl)
	if err != nil {
		return s, err
	}
	body := fileContent(o.Size)
	run := func(n int) error {
		for i := range n {
			var got Request
			m := newMessage(i, body)
			data, err := c.encode(m)
			if err == nil {
				err = c.decode(data, &got)
			}
			if err = cmp.Or(err, compare(m, &got)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := run(min(o.Ops, messageWarmUp)); err != nil {
		return s, err
	}
	return c.measure(o.Ops, o.Size, run)
}

func (o Echo) measure(in Input) (s results.Sample, err error) {
	c, err := newCodec(o.Impl)
	if err != nil {
		return s, err
	}
	listener, err := new(net.ListenConfig).Listen(in.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return s, err
	}
	defer listener.Close()
	var clients []*wire
	for range o.Connections {
		client, err := new(net.Dialer).DialContext(in.ctx, "tcp", listener.Addr().String())
		if err != nil {
			return s, err
		}
		defer client.Close()
		server, err := listener.Accept()
		if err != nil {
			return s, err
		}
		clients = append(clients, newWire(client, c))
		go newWire(server, c).serve()
	}
	each, body := o.Ops/o.Connections, fileContent(o.Size)
	run := func(n int) error {
		return pool.ForEach(in.ctx, o.Connections, clients, func(_ context.Context, w *wire) error { return w.exchange(n/o.Connections, body) })
	}
	if err := run(min(each*o.Connections, messageWarmUp)); err != nil {
		return s, err
	}
	return c.measure(each*o.Connections, o.Size, run)
}

func newMessage(id int, body []byte) *Request {
	return &Request{Id: uint64(id), Name: "folder-07/file-000001", Body: body}
}

// A codec encodes a message. JSON has the body as base64, because it has no bytes.
type codec struct {
	encode func(*Request) ([]byte, error)
	decode func([]byte, *Request) error
}

func newCodec(impl string) (codec, error) {
	switch impl {
	case "protobuf":
		return codec{func(m *Request) ([]byte, error) { return proto.Marshal(m) }, func(data []byte, m *Request) error { return proto.Unmarshal(data, m) }}, nil
	case "json":
		return codec{func(m *Request) ([]byte, error) { return json.Marshal(m) }, func(data []byte, m *Request) error { return json.Unmarshal(data, m) }}, nil
	}
	return codec{}, fmt.Errorf("unknown encoding %q", impl)
}

// compare compares as much as costs nothing beside a codec.
func compare(sent, got *Request) error {
	if got.GetId() != sent.GetId() || got.GetName() != sent.GetName() || len(got.GetBody()) != len(sent.GetBody()) {
		return errors.New("a message changed on its way")
	}
	return nil
}

// measure returns the cost of n messages, and the encoded length of one. Muster's own memory is as
// large as the least heap at which Go collects garbage. It would be marked for every few thousand
// messages, so the collections are a quarter as many.
func (c codec) measure(n, size int, run func(n int) error) (s results.Sample, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	all, err := measureEach(n, run)
	if err != nil {
		return s, err
	}
	data, err := c.encode(newMessage(1, fileContent(size)))
	return all.sample(value(results.Wire, len(data))), err
}

// A wire carries messages over a connection, each after its length in four bytes.
type wire struct {
	codec
	conn          net.Conn
	in            *bufio.Reader
	frame, packet []byte
}

func newWire(conn net.Conn, c codec) *wire {
	return &wire{codec: c, conn: conn, in: bufio.NewReader(conn)}
}

func (w *wire) send(m *Request) error {
	data, err := w.encode(m)
	if err != nil {
		return err
	}
	w.packet = binary.BigEndian.AppendUint32(w.packet[:0], uint32(len(data)))
	w.packet = append(w.packet, data...)
	_, err = w.conn.Write(w.packet)
	return err
}

func (w *wire) receive(m *Request) error {
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint32(head[:]))
	w.frame = slices.Grow(w.frame[:0], n)[:n]
	if _, err := io.ReadFull(w.in, w.frame); err != nil {
		return err
	}
	return w.decode(w.frame, m)
}

// exchange sends n messages, each after the answer to the one before.
func (w *wire) exchange(n int, body []byte) error {
	for i := range n {
		m := newMessage(i, body)
		if err := w.send(m); err != nil {
			return err
		}
		var got Request
		if err := w.receive(&got); err != nil {
			return err
		}
		if err := compare(m, &got); err != nil {
			return err
		}
	}
	return nil
}

// serve answers each message with the same one. The client notices errors, which end the connection.
func (w *wire) serve() {
	defer w.conn.Close()
	for {
		var m Request
		if w.receive(&m) != nil || w.send(&m) != nil {
			return
		}
	}
}
