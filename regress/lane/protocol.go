package lane

import (
	"encoding/binary"
	"errors"
	"time"
)

// A frame is a length (4 bytes, little endian) and a payload. Setup frames
// grow with the number of given files, about 100 bytes each.
const (
	headerBytes     = 4
	frameBytesMax   = 1 << 30
	itemsPerBodyMax = 1 << 24
)

var errDamaged = errors.New("damaged message")

// FrameSize reads a frame's header.
func FrameSize(header [headerBytes]byte) (int, error) {
	n := binary.LittleEndian.Uint32(header[:])
	if n > frameBytesMax {
		return 0, errDamaged
	}
	return int(n), nil
}

// frame fills in the length of a message that was begun with begin.
func frame(b []byte) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-headerBytes))
	return b
}

func begin(b []byte) []byte { return append(b[:0], 0, 0, 0, 0) }

func appendInt(b []byte, v int64) []byte { return binary.AppendVarint(b, v) }

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendString(b []byte, s string) []byte {
	return append(appendInt(b, int64(len(s))), s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = appendInt(b, int64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

// body consumes a payload. After the first damage everything reads as zero and
// bad is set, so that callers check once, at the end.
type body struct {
	rest []byte
	bad  bool
}

func (b *body) int() int64 {
	v, n := binary.Varint(b.rest)
	if n <= 0 {
		b.bad, b.rest = true, nil
		return 0
	}
	b.rest = b.rest[n:]
	return v
}

func (b *body) bool() bool {
	if len(b.rest) == 0 {
		b.bad = true
		return false
	}
	v := b.rest[0] != 0
	b.rest = b.rest[1:]
	return v
}

func (b *body) string() string {
	n := b.int()
	if n < 0 || n > int64(len(b.rest)) {
		b.bad, b.rest = true, nil
		return ""
	}
	s := string(b.rest[:n])
	b.rest = b.rest[n:]
	return s
}

func (b *body) count() int {
	n := b.int()
	if n < 0 || n > itemsPerBodyMax || n > int64(len(b.rest)) {
		b.bad, b.rest = true, nil
		return 0
	}
	return int(n)
}

func (b *body) strings() []string {
	list := make([]string, b.count())
	for i := range list {
		list[i] = b.string()
	}
	return list
}

func (b *body) err() error {
	if b.bad || len(b.rest) > 0 {
		return errDamaged
	}
	return nil
}

func appendItem(b []byte, it Item) []byte {
	b = appendString(b, it.Name)
	b = appendString(b, it.Target)
	b = appendBool(b, it.Exec)
	b = appendInt(b, it.Size)
	b = appendInt(b, it.Offset)
	return appendString(b, it.Path)
}

func (b *body) item() Item {
	return Item{
		Name: b.string(), Target: b.string(), Exec: b.bool(),
		Size: b.int(), Offset: b.int(), Path: b.string(),
	}
}

// AppendFrame writes the message into buf, reusing its space.
func (s *Setup) AppendFrame(buf []byte) []byte {
	b := begin(buf)
	b = appendString(b, s.Root)
	b = appendString(b, s.Outbox)
	b = appendString(b, s.Canonical)
	b = appendBool(b, s.PIDs)
	b = appendStrings(b, s.Env)
	b = appendInt(b, int64(len(s.Given)))
	for _, it := range s.Given {
		b = appendItem(b, it)
	}
	b = appendInt(b, int64(s.Timeout))
	b = appendInt(b, int64(s.Grace))
	b = appendInt(b, s.MemoryMax)
	b = appendInt(b, s.OutputMax)
	b = appendBool(b, s.Keep)
	return frame(b)
}

// Decode reads what AppendFrame wrote, without the header.
func (s *Setup) Decode(payload []byte) error {
	b := body{rest: payload}
	s.Root, s.Outbox, s.Canonical, s.PIDs = b.string(), b.string(), b.string(), b.bool()
	s.Env = b.strings()
	s.Given = make([]Item, b.count())
	for i := range s.Given {
		s.Given[i] = b.item()
	}
	s.Timeout, s.Grace = time.Duration(b.int()), time.Duration(b.int())
	s.MemoryMax, s.OutputMax, s.Keep = b.int(), b.int(), b.bool()
	return b.err()
}

// AppendFrame writes the message into buf, reusing its space.
func (r *Ready) AppendFrame(buf []byte) []byte {
	return frame(appendInt(appendString(begin(buf), r.Fault), r.Floor))
}

// Decode reads what AppendFrame wrote, without the header.
func (r *Ready) Decode(payload []byte) error {
	b := body{rest: payload}
	r.Fault, r.Floor = b.string(), b.int()
	return b.err()
}

// AppendFrame writes the message into buf, reusing its space.
func (j *Job) AppendFrame(buf []byte) []byte {
	b := appendItem(begin(buf), j.Source)
	b = appendString(b, j.Path)
	b = appendStrings(b, j.Args)
	return frame(appendBool(b, j.Stdin))
}

// Decode reads what AppendFrame wrote, without the header.
func (j *Job) Decode(payload []byte) error {
	b := body{rest: payload}
	j.Source, j.Path, j.Args, j.Stdin = b.item(), b.string(), b.strings(), b.bool()
	return b.err()
}

func appendLeft(b []byte, f Left) []byte {
	b = appendString(b, f.Name)
	b = appendInt(b, int64(f.Form))
	b = appendBool(b, f.Exec)
	b = appendInt(b, f.Size)
	b = appendString(b, f.Stored)
	return appendString(b, f.Target)
}

func (b *body) left() Left {
	return Left{
		Name: b.string(), Form: int(b.int()), Exec: b.bool(),
		Size: b.int(), Stored: b.string(), Target: b.string(),
	}
}

// AppendFrame writes the message into buf, reusing its space.
func (d *Done) AppendFrame(buf []byte) []byte {
	b := appendString(begin(buf), d.Fault)
	b = appendInt(b, int64(d.Kind))
	b = appendInt(b, int64(d.Code))
	b = appendInt(b, int64(d.CPU))
	b = appendInt(b, int64(d.Wall))
	b = appendInt(b, d.Peak)
	b = appendLeft(b, d.Stdout)
	b = appendLeft(b, d.Stderr)
	b = appendInt(b, int64(len(d.Files)))
	for _, f := range d.Files {
		b = appendLeft(b, f)
	}
	return frame(b)
}

// Decode reads what AppendFrame wrote, without the header.
func (d *Done) Decode(payload []byte) error {
	b := body{rest: payload}
	d.Fault, d.Kind, d.Code = b.string(), int(b.int()), int(b.int())
	d.CPU, d.Wall, d.Peak = time.Duration(b.int()), time.Duration(b.int()), b.int()
	d.Stdout, d.Stderr = b.left(), b.left()
	d.Files = make([]Left, b.count())
	for i := range d.Files {
		d.Files[i] = b.left()
	}
	return b.err()
}
