package lane

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// Each message lists its fields twice, to write and to read them; TestEveryFieldIsSent compares
// the lists. One walker with a single list, for both directions, was as long (292 lines, here
// 286). It took 1.9 to 2.2 times as long to write a message, and up to 1.5 times to read one.

func appendInt(b []byte, v int64) []byte { return binary.AppendVarint(b, v) }

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendString[T string | []byte](b []byte, s T) []byte {
	return append(appendInt(b, int64(len(s))), s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = appendInt(b, int64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

// body consumes a message. After the first damage everything reads as zero and
// bad is set, so that callers check once, at the end.
type body struct {
	rest []byte
	bad  bool
	lent bool // strings are parts of the message, not copies
}

func (b *body) damage() { b.bad, b.rest = true, nil }

func (b *body) int() int64 {
	v, n := binary.Varint(b.rest)
	if n <= 0 {
		b.damage()
		return 0
	}
	b.rest = b.rest[n:]
	return v
}

// upTo reads a number from 0 to max.
func (b *body) upTo(max int64) int64 {
	v := b.int()
	if v < 0 || v > max {
		b.damage()
		return 0
	}
	return v
}

func (b *body) bool() bool {
	if len(b.rest) == 0 || b.rest[0] > 1 {
		b.damage()
		return false
	}
	v := b.rest[0] == 1
	b.rest = b.rest[1:]
	return v
}

// bytes reads a string as a part of the message.
func (b *body) bytes() []byte {
	n := b.int()
	if n < 0 || n > int64(len(b.rest)) {
		b.damage()
		return nil
	}
	v := b.rest[:n:n]
	b.rest = b.rest[n:]
	return v
}

func (b *body) string() string {
	v := b.bytes()
	if b.lent {
		return unsafe.String(unsafe.SliceData(v), len(v))
	}
	return string(v)
}

// Sizes of the smallest string, Item, Job and Left in a message. They bound what a
// number in a damaged one can make the reader allocate, to 16 times the
// message's length.
const (
	stringBytesMin = 1
	itemBytesMin   = 8
	jobBytesMin    = itemBytesMin + 3
	leftBytesMin   = 7
)

// count reads how many things of at least bytesMin follow.
func (b *body) count(bytesMin int) int {
	n := b.int()
	if n < 0 || n > int64(len(b.rest)/bytesMin) {
		b.damage()
		return 0
	}
	return int(n)
}

// strings reads a list into the space of another.
func (b *body) strings(space []string) []string {
	list := space[:0]
	for range b.count(stringBytesMin) {
		list = append(list, b.string())
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
	b = appendString(b, it.Path)
	b = appendBool(b, it.Own)
	return appendString(b, it.Content)
}

func (b *body) item() Item {
	return Item{
		Name: b.string(), Target: b.string(), Exec: b.bool(),
		Size: b.int(), Offset: b.int(), Path: b.string(), Own: b.bool(), Content: b.string(),
	}
}

// AppendFrame writes the message into buf, whose space is used again.
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
	b = appendInt(b, int64(s.Patience))
	b = appendInt(b, s.MemoryMax)
	b = appendInt(b, s.OutputMax)
	b = appendInt(b, s.ProcessesMax)
	b = appendBool(b, s.Keep)
	return frame(appendBool(b, s.NoNetwork))
}

// Decode reads a message that AppendFrame wrote, without its header.
func (s *Setup) Decode(message []byte) error {
	b := body{rest: message}
	s.Root, s.Outbox, s.Canonical, s.PIDs = b.string(), b.string(), b.string(), b.bool()
	s.Env = b.strings(nil)
	s.Given = make([]Item, b.count(itemBytesMin))
	for i := range s.Given {
		s.Given[i] = b.item()
	}
	s.Timeout, s.Grace, s.Patience = time.Duration(b.int()), time.Duration(b.int()), time.Duration(b.int())
	s.MemoryMax, s.OutputMax, s.ProcessesMax, s.Keep, s.NoNetwork = b.int(), b.int(), b.int(), b.bool(), b.bool()
	return b.err()
}

// AppendFrame writes the message into buf, whose space is used again.
func (r *Ready) AppendFrame(buf []byte) []byte {
	b := appendString(begin(buf), r.Fault)
	b = appendBool(b, r.Changed)
	b = appendBool(b, r.Full)
	b = appendBool(b, r.Blind)
	b = appendInt(b, r.Floor)
	return frame(appendInt(b, int64(r.Own)))
}

// Decode reads a message that AppendFrame wrote, without its header.
func (r *Ready) Decode(message []byte) error {
	b := body{rest: message}
	r.Fault, r.Changed, r.Full, r.Blind = b.string(), b.bool(), b.bool(), b.bool()
	r.Floor, r.Own = b.int(), time.Duration(b.int())
	return b.err()
}

// AppendFrame writes the message into buf, whose space is used again.
func (a *Batch) AppendFrame(buf []byte) []byte {
	b := appendInt(begin(buf), int64(len(a.Jobs)))
	for i := range a.Jobs {
		j := &a.Jobs[i]
		b = appendItem(b, j.Source)
		b = appendString(b, j.Path)
		b = appendStrings(b, j.Args)
		b = appendBool(b, j.Stdin)
	}
	return frame(b)
}

// Decode reads a message that AppendFrame wrote, without its header. The jobs'
// strings are parts of the message: they hold until that is read over. The space of
// the jobs of another message is used again.
func (a *Batch) Decode(message []byte) error {
	b := body{rest: message, lent: true}
	n := b.count(jobBytesMin)
	a.Jobs = slices.Grow(a.Jobs[:0], n)[:n]
	for i := range a.Jobs {
		j := &a.Jobs[i]
		j.Source, j.Path, j.Args, j.Stdin = b.item(), b.string(), b.strings(j.Args), b.bool()
	}
	return b.err()
}

func appendLeft(b []byte, f *Left) []byte {
	b = appendString(b, f.Name)
	b = appendInt(b, int64(f.Form))
	b = appendBool(b, f.Exec)
	b = appendInt(b, f.Size)
	b = appendString(b, f.Content)
	b = appendString(b, f.Stored)
	return appendString(b, f.Target)
}

func (b *body) left() Left {
	f := Left{
		Name: b.string(), Form: int(b.upTo(Gone)), Exec: b.bool(),
		Size: b.upTo(1<<63 - 1), Content: b.bytes(), Stored: b.string(), Target: b.string(),
	}
	if strings.IndexByte(f.Stored, '/') >= 0 {
		b.damage() // it would lead out of the outbox
	}
	return f
}

// AppendFrame writes the message into buf, whose space is used again.
func (d *Done) AppendFrame(buf []byte) []byte {
	b := appendString(begin(buf), d.Fault)
	b = appendBool(b, d.Changed)
	b = appendBool(b, d.Full)
	b = appendBool(b, d.Stuck)
	b = appendInt(b, int64(d.Kind))
	b = appendInt(b, int64(d.Code))
	b = appendInt(b, int64(d.CPU))
	b = appendInt(b, int64(d.Wall))
	b = appendInt(b, d.Peak)
	b = appendLeft(b, &d.Stdout)
	b = appendLeft(b, &d.Stderr)
	b = appendInt(b, int64(len(d.Files)))
	for i := range d.Files {
		b = appendLeft(b, &d.Files[i])
	}
	b = appendInt(b, d.Floor)
	b = appendInt(b, int64(d.Own))
	b = appendBool(b, d.Blind)
	b = appendBool(b, d.Last)
	return frame(appendBool(b, d.End))
}

// Decode reads a message that AppendFrame wrote, without its header.
func (d *Done) Decode(message []byte) error {
	b := body{rest: message}
	d.Fault, d.Changed, d.Full, d.Stuck = b.string(), b.bool(), b.bool(), b.bool()
	d.Kind, d.Code = int(b.upTo(OutputLimit)), int(b.int())
	d.CPU, d.Wall, d.Peak = time.Duration(b.int()), time.Duration(b.int()), b.int()
	d.Stdout, d.Stderr = b.left(), b.left()
	d.Files = make([]Left, b.count(leftBytesMin))
	for i := range d.Files {
		d.Files[i] = b.left()
	}
	d.Floor, d.Own, d.Blind, d.Last = b.int(), time.Duration(b.int()), b.bool(), b.bool()
	d.End = b.bool()
	return b.err()
}
