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
	"google.golang.org/protobuf/types/known/anypb"

	"muster/lab/results"
	"muster/pool"
)

// Codec encodes and decodes messages, such as a file service gets: a name and a body.
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
		for range n {
			var got anypb.Any
			m := newMessage(body)
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

// newMessage returns a message. It is one of protobuf's own that has a text and bytes.
func newMessage(body []byte) *anypb.Any {
	return &anypb.Any{TypeUrl: "folder-07/file-000001", Value: body}
}

// A codec encodes a message. JSON has the body as base64, because it has no bytes.
type codec struct {
	encode func(*anypb.Any) ([]byte, error)
	decode func([]byte, *anypb.Any) error
}

func newCodec(impl string) (codec, error) {
	switch impl {
	case "protobuf":
		return codec{func(m *anypb.Any) ([]byte, error) { return proto.Marshal(m) }, func(data []byte, m *anypb.Any) error { return proto.Unmarshal(data, m) }}, nil
	case "json":
		return codec{func(m *anypb.Any) ([]byte, error) { return json.Marshal(m) }, func(data []byte, m *anypb.Any) error { return json.Unmarshal(data, m) }}, nil
	}
	return codec{}, fmt.Errorf("unknown encoding %q", impl)
}

// compare compares as much as costs nothing beside a codec.
func compare(sent, got *anypb.Any) error {
	if got.GetTypeUrl() != sent.GetTypeUrl() || len(got.GetValue()) != len(sent.GetValue()) {
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
	data, err := c.encode(newMessage(fileContent(size)))
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

func (w *wire) send(m *anypb.Any) error {
	data, err := w.encode(m)
	if err != nil {
		return err
	}
	w.packet = binary.BigEndian.AppendUint32(w.packet[:0], uint32(len(data)))
	w.packet = append(w.packet, data...)
	_, err = w.conn.Write(w.packet)
	return err
}

func (w *wire) receive(m *anypb.Any) error {
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
	for range n {
		m := newMessage(body)
		if err := w.send(m); err != nil {
			return err
		}
		var got anypb.Any
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
		var m anypb.Any
		if w.receive(&m) != nil || w.send(&m) != nil {
			return
		}
	}
}
