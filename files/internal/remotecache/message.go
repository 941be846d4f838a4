package remotecache

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"muster/internal/fair"
)

// Bounds on messages, in bytes.
const (
	// messageMax is the largest message that is decoded as a whole.
	messageMax = 2 << 20
	// batchMax is the largest sum of the contents in a batch. The rest of a message is for the
	// digests beside them.
	batchMax = 1 << 20
	// smallMax is the largest message of a request that has only its place.
	smallMax = 16 << 10

	// largeCost is the memory of a request that needs more: a message as it came, what it is
	// decoded to, and the answer.
	largeCost   = 4 * messageMax
	decodedMax  = 3 * messageMax // of it, for the message and what it is decoded to
	largeMemory = 6 * largeCost
)

// largeTime is how long one request may use the memory of a large message.
const largeTime = 2 * time.Minute

// retryAfter is the pause that a refused client is asked for.
const retryAfter = time.Second

// room is the memory of one request.
type room struct {
	large  *fair.Budget
	client fair.Client
	until  time.Time // zero = the request has only its place
}

type roomKey struct{}

// enlarge waits for memory for large messages, unless the request has it already. The caller
// must hold no other memory, except the request's place.
func enlarge(ctx context.Context) error { return ctx.Value(roomKey{}).(*room).enlarge(ctx) }

func (m *room) enlarge(ctx context.Context) error {
	if !m.until.IsZero() {
		return nil
	}
	if err := m.large.Take(ctx, m.client); err != nil {
		return err
	}
	m.until = time.Now().Add(largeTime)
	return nil
}

func (m *room) leave() {
	if !m.until.IsZero() {
		m.large.Give(m.client, 1)
	}
}

// check ends a request that has used its memory for too long.
func (m *room) check() error {
	if m.until.IsZero() || time.Now().Before(m.until) {
		return nil
	}
	return connect.NewError(connect.CodeDeadlineExceeded, errors.New("the client took more than 2 minutes for a large message"))
}

// messageBody is the body of a request with one message. It waits for memory before it reads a
// large message. It refuses a message that is too large, and a second one, without reading
// them.
type messageBody struct {
	io.ReadCloser
	ctx    context.Context
	room   *room
	fail   func(error) error // converts an error of waiting for memory
	prefix []byte            // of the message, not yet read; nil before the first read
	left   int64             // bytes of the message that were not read
}

func (b *messageBody) Read(p []byte) (int, error) {
	if b.prefix == nil {
		b.prefix = make([]byte, prefixSize)
		if n, err := io.ReadFull(b.ReadCloser, b.prefix); err != nil {
			b.prefix = b.prefix[:n]
			return 0, err
		}
		size := binary.BigEndian.Uint32(b.prefix[1:])
		if size > messageMax {
			return 0, connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("a message of %d bytes is too large: send at most %d", size, messageMax))
		}
		b.left = int64(size)
		if size > smallMax || b.prefix[0] != 0 { // a compressed message may become large
			if err := b.room.enlarge(b.ctx); err != nil {
				return 0, b.fail(err)
			}
		}
	}
	if len(b.prefix) > 0 {
		n := copy(p, b.prefix)
		b.prefix = b.prefix[n:]
		return n, nil
	}
	if err := b.room.check(); err != nil {
		return 0, err
	}
	if b.left == 0 {
		return 0, b.end()
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// end returns io.EOF if nothing follows the message.
func (b *messageBody) end() error {
	n, err := io.ReadFull(b.ReadCloser, make([]byte, 1))
	if n > 0 {
		err = connect.NewError(connect.CodeUnimplemented, errors.New("the method takes one message, and a second one came"))
	}
	return err
}

// prefixSize is the size of what gRPC sends before a message: whether it is compressed, and its
// size.
const prefixSize = 5

// timedWriter ends an answer whose client takes too long for a large message.
type timedWriter struct {
	http.ResponseWriter
	room *room
}

// timedPiece is how many bytes are written between two looks at the clock.
const timedPiece = 64 << 10

func (w *timedWriter) Write(p []byte) (written int, err error) {
	for piece := range slices.Chunk(p, timedPiece) {
		if err := w.room.check(); err != nil {
			return written, err
		}
		n, err := w.ResponseWriter.Write(piece)
		if written += n; err != nil {
			return written, err
		}
	}
	return written, nil
}

// Flush is for streams. The next write reports an error of Flush.
func (w *timedWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// codec is protobuf that refuses messages which take much more memory when they are decoded.
type codec struct{}

var _ connect.Codec = codec{}

// Name implements connect.Codec.
func (codec) Name() string { return "proto" }

// Marshal implements connect.Codec.
func (codec) Marshal(m any) ([]byte, error) { return codec{}.MarshalAppend(nil, m) }

// MarshalAppend saves connect an allocation per message.
func (codec) MarshalAppend(to []byte, m any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(to, m.(proto.Message))
}

// Unmarshal implements connect.Codec.
func (codec) Unmarshal(data []byte, m any) error { return decode(data, m.(proto.Message)) }

// errElements is the error of a message that is small, and large once it is decoded.
var errElements = errors.New("the message has too many elements: send fewer at a time")

// elementsFactor is how many times larger than its data a decoded message may be. Messages that
// list digests and files are up to 6 times larger.
const elementsFactor = 8

// decode decodes a message, after a bound on the memory that it takes.
func decode(data []byte, m proto.Message) error {
	size := decodedSize(data, m.ProtoReflect().Descriptor())
	if size > elementsFactor*len(data)+smallMax/4 || size > decodedMax-len(data) {
		return errElements
	}
	return proto.Unmarshal(data, m)
}

// Estimates of the memory that parts of a message take beside their bytes.
const (
	messageMemory = 112
	stringMemory  = 16
)

// decodedSize estimates the memory of a decoded message. It ends early if data is invalid.
func decodedSize(data []byte, of protoreflect.MessageDescriptor) int {
	size := len(data)
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return size
		}
		data = data[n:]
		n = protowire.ConsumeFieldValue(number, kind, data)
		if n < 0 {
			return size
		}
		if kind == protowire.BytesType {
			size += stringMemory
			if field := of.Fields().ByNumber(number); field != nil && field.Message() != nil {
				part, _ := protowire.ConsumeBytes(data)
				size += messageMemory + decodedSize(part, field.Message()) - len(part)
			}
		}
		data = data[n:]
	}
	return size
}

// gunzip decompresses a message, and ends with an error after messageMax bytes. connect alone
// would decompress the rest of a bomb.
type gunzip struct {
	gzip.Reader
	left int
}

func newGunzip() connect.Decompressor { return &gunzip{} }

func newGzip() connect.Compressor { return gzip.NewWriter(io.Discard) }

// Reset implements connect.Decompressor.
func (g *gunzip) Reset(r io.Reader) error {
	g.left = messageMax
	return g.Reader.Reset(r)
}

func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if g.left -= n; g.left < 0 {
		return 0, connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("a message is larger than %d bytes when it is decompressed", messageMax))
	}
	return n, err
}
