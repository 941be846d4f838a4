package remotecache

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"math"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// uploads answers ByteStream.Write. It decodes the stream of messages itself: clients send up to
// 4 MiB in a message, and connect would hold that in memory twice, for each of hundreds of
// uploads. Here an upload takes a few kilobytes, and the data is copied once.
type uploads struct {
	blobs
	blobMax int64
	refuse  func(http.ResponseWriter, *http.Request, error)
}

// ServeHTTP implements http.Handler.
func (c uploads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	size, err := c.receive(r.Context(), r.Body, r.Header.Get("Grpc-Encoding"))
	var data []byte
	if err == nil {
		data, err = proto.Marshal(&bytestream.WriteResponse{CommittedSize: size})
	}
	if err != nil {
		c.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	answer := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(data)))
	_, _ = w.Write(append(answer, data...)) // an error means that the client has gone
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
}

// receive stores the content that a client sends, and returns its size. If the content is here
// already, receive does not read it.
func (c uploads) receive(ctx context.Context, body io.Reader, encoding string) (int64, error) {
	u := &upload{body: bufio.NewReader(body), encoding: encoding, sum: sha256.New()}
	if err := u.begin(); err != nil {
		return 0, err
	}
	at, d, err := parseResource(u.name, true)
	switch {
	case err != nil:
		return 0, err
	case d.size > c.blobMax:
		return 0, refuse(connect.CodeResourceExhausted, "a content of %d bytes is too large: at most %d are possible", d.size, c.blobMax)
	}
	here, err := c.has(ctx, at, d)
	if here || err != nil {
		return d.size, err
	}
	u.want = d
	_, err = c.store.Put(ctx, at.content(d), u, d.size, nil)
	return d.size, err
}

// upload reads the data of a stream of WriteRequests. It ends with an error if the data is not
// the wanted content.
type upload struct {
	body     *bufio.Reader
	encoding string // of compressed messages
	message  fields
	frame    io.LimitedReader // the rest of the message as it came
	others   int64            // bytes of the message that are not data

	name     string
	finished bool
	inData   bool  // whether the message's data has begun
	left     int64 // bytes of data of the message
	offset   int64 // of the data

	sum  hash.Hash
	want digest
}

// Fields of a WriteRequest.
const (
	nameField   = protowire.Number(1)
	offsetField = protowire.Number(2)
	finishField = protowire.Number(3)
	dataField   = protowire.Number(10)
)

// othersMax is how many bytes a message may have beside its data. A few compressed bytes could
// become any number of them.
const othersMax = 64 << 10

var (
	errUnfinished = invalid("the stream ended before a message with finish_write: send the content again from its beginning")
	errName       = invalid("the first message must name the resource, and no other message another one")
	errOffset     = invalid("the offset is not where the data continues: an upload begins at 0, and nothing is kept of a broken one")
)

// begin reads up to the first data, or to the end of the stream.
func (u *upload) begin() error {
	err := u.advance()
	if err == io.EOF {
		err = nil
	}
	if err == nil && u.name == "" {
		err = errName
	}
	return err
}

// Read implements io.Reader.
func (u *upload) Read(p []byte) (int, error) {
	for u.left == 0 {
		err := u.advance()
		switch {
		case err == io.EOF && [sha256.Size]byte(u.sum.Sum(nil)) != u.want.hash:
			return 0, errDigest
		case err != nil:
			return 0, err
		}
	}
	n, err := u.message.r.Read(p[:min(int64(len(p)), u.left)])
	u.sum.Write(p[:n])
	u.left, u.message.left, u.offset = u.left-int64(n), u.message.left-int64(n), u.offset+int64(n)
	if n > 0 && err == io.EOF { // of a compressed message, with its last data
		err = nil
	}
	return n, u.explain(noEOF(err))
}

// explain makes a client's failure of an error of its stream.
func (u *upload) explain(err error) error {
	if _, ok := errors.AsType[*refusal](err); err == nil || ok {
		return err
	}
	return refuse(connect.CodeCanceled, "the upload broke: %w", err)
}

// advance reads up to the next data. It returns io.EOF at the end of the content.
func (u *upload) advance() error {
	for {
		before := u.message.left
		number, kind, err := u.message.next()
		if err == io.EOF {
			if err := u.endMessage(); err != nil {
				return err
			}
			continue
		}
		if err == nil {
			err = u.field(number, kind)
		}
		if u.others += before - u.message.left; err == nil && u.others > othersMax {
			err = errProtobuf
		}
		if err != nil {
			return u.explain(err)
		}
		if u.left > 0 {
			return nil
		}
	}
}

// endMessage goes on to the next message. It returns io.EOF after the last one.
func (u *upload) endMessage() error {
	switch {
	case u.frame.N > 0:
		return errProtobuf // beyond the end of compressed data
	case u.finished:
		return io.EOF
	}
	var prefix [prefixSize]byte
	if _, err := io.ReadFull(u.body, prefix[:]); err == io.EOF {
		return errUnfinished
	} else if err != nil {
		return u.explain(err)
	}
	u.inData, u.others = false, 0
	size := int64(binary.BigEndian.Uint32(prefix[1:]))
	switch {
	case prefix[0] == 0:
		u.frame.N = 0
		u.message = fields{r: u.body, left: size}
		return nil
	case prefix[0] != 1 || u.encoding != "gzip":
		return refuse(connect.CodeUnimplemented, "a message is compressed with an unsupported method: use gzip or none")
	}
	u.frame = io.LimitedReader{R: u.body, N: size}
	unzip, err := gzip.NewReader(&u.frame)
	if err != nil {
		return u.explain(err)
	}
	u.message = fields{r: bufio.NewReader(unzip), left: math.MaxInt64, open: true}
	return nil
}

// field reads a field, or the head of the data.
func (u *upload) field(number protowire.Number, kind protowire.Type) error {
	wanted := protowire.VarintType
	switch number {
	case nameField, dataField:
		wanted = protowire.BytesType
	case offsetField, finishField:
	default:
		return u.message.skip(kind, othersMax)
	}
	if kind != wanted || u.inData { // encoders write the data last
		return errProtobuf
	}
	switch number {
	case nameField:
		name, err := u.message.bytes(resourceMax)
		if err == nil && u.name != "" && len(name) > 0 && !bytes.Equal(name, []byte(u.name)) {
			err = errName
		}
		if u.name == "" {
			u.name = string(name)
		}
		return err
	case finishField:
		n, err := u.message.varint()
		u.finished = n != 0
		return err
	case offsetField:
		n, err := u.message.varint()
		if err == nil && n != uint64(u.offset) {
			err = errOffset
		}
		return err
	}
	n, err := u.message.length()
	u.inData, u.left = true, n
	return err
}
