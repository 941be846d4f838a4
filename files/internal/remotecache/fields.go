package remotecache

import (
	"bufio"
	"io"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// fields reads the fields of one protobuf message one after another, however large the message
// is. It is for messages that need not be in memory as a whole.
type fields struct {
	r    *bufio.Reader
	left int64 // bytes of the message that were not read
	open bool  // the message ends where r ends
}

var errProtobuf = invalid("the message is not protobuf of the expected form")

// next reads the head of a field. It returns io.EOF at the end of the message.
func (f *fields) next() (protowire.Number, protowire.Type, error) {
	if f.left == 0 {
		return 0, 0, io.EOF
	}
	if f.open {
		if _, err := f.r.Peek(1); err != nil {
			return 0, 0, err
		}
	}
	head, err := f.varint()
	number, kind := protowire.DecodeTag(head)
	if err == nil && number < protowire.MinValidNumber {
		err = errProtobuf
	}
	return number, kind, err
}

func (f *fields) varint() (n uint64, err error) {
	for shift := 0; shift < 64; shift += 7 {
		b, err := f.readByte()
		if err != nil {
			return 0, err
		}
		if n |= uint64(b&0x7f) << shift; b < 0x80 {
			return n, nil
		}
	}
	return 0, errProtobuf
}

func (f *fields) readByte() (byte, error) {
	if f.left == 0 {
		return 0, errProtobuf
	}
	f.left--
	b, err := f.r.ReadByte()
	return b, noEOF(err)
}

// length reads the length of a field of bytes.
func (f *fields) length() (int64, error) {
	n, err := f.varint()
	if err == nil && n > uint64(f.left) {
		err = errProtobuf
	}
	return int64(n), err
}

// bytes reads a field of at most most bytes.
func (f *fields) bytes(most int64) ([]byte, error) {
	n, err := f.length()
	if err == nil && n > most {
		err = errProtobuf
	}
	if err != nil {
		return nil, err
	}
	data := make([]byte, n)
	_, err = io.ReadFull(f.r, data)
	f.left -= n
	return data, noEOF(err)
}

// skip reads the rest of a field of at most most bytes.
func (f *fields) skip(kind protowire.Type, most int64) error {
	n, err := int64(0), error(nil)
	switch kind {
	case protowire.VarintType:
		_, err = f.varint()
		return err
	case protowire.Fixed32Type:
		n = 4
	case protowire.Fixed64Type:
		n = 8
	case protowire.BytesType:
		n, err = f.length()
	default:
		err = errProtobuf
	}
	if err == nil && n > min(f.left, most) {
		err = errProtobuf
	}
	if err != nil {
		return err
	}
	f.left -= n
	_, err = io.CopyN(io.Discard, f.r, n)
	return noEOF(err)
}

// noEOF is for the middle of a message.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A shape has the fields of a message that lead to digests. An empty shape is a digest.
type shape map[protowire.Number]shape

var treeShape = func() shape {
	file := shape{2: {}}
	directory := shape{1: file}
	return shape{1: directory, 2: directory}
}()

// digestBytesMax is the largest message of a digest.
const digestBytesMax = 128

// digests calls visit with each digest of a message.
func (f *fields) digests(of shape, visit func(digest) error) error {
	for {
		number, kind, err := f.next()
		if err == io.EOF {
			return nil
		}
		part, known := of[number]
		switch {
		case err != nil:
		case !known || kind != protowire.BytesType:
			err = f.skip(kind, f.left)
		case len(part) > 0:
			err = f.enter(part, visit)
		default:
			err = f.visit(visit)
		}
		if err != nil {
			return err
		}
	}
}

func (f *fields) enter(of shape, visit func(digest) error) error {
	n, err := f.length()
	if err != nil {
		return err
	}
	outside := f.left - n
	f.left = n
	err = f.digests(of, visit)
	f.left = outside
	return err
}

func (f *fields) visit(visit func(digest) error) error {
	data, err := f.bytes(digestBytesMax)
	if err != nil {
		return err
	}
	m := &repb.Digest{}
	if proto.Unmarshal(data, m) != nil {
		return errProtobuf
	}
	d, err := parseDigest(m)
	if err != nil {
		return err
	}
	return visit(d)
}
