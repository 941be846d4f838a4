// Package lane is the helper process that runs cases: one small process per lane, with a
// folder of its own. It places a source, runs the command, collects what the command left, and
// restores the folder.
//
// The helper is the importing program itself, started again with a private argument (Argument)
// and taken over in this package's init. So it must not import "os": its memory is the floor
// of what can be measured of a case. README.md in this folder explains both.
//
// A program that imports muster/regress contains the helper and needs to do nothing else. The
// package must not judge, compare or digest: it only reports what it found. The parent's side
// is regress/internal/exec/local, which uses the messages and frames, ReadNow, SendNow and
// Detach.
package lane

import (
	"slices"
	"time"
	"unsafe"

	"muster/regress/lane/observe"
	"muster/regress/lane/scan"
)

// Each message lists its fields twice, to write and to read them; TestEveryFieldIsSent compares
// the lists. One walker with a single list, for both directions, was as long (292 lines, here
// 286). It took 1.9 to 2.2 times as long to write a message, and up to 1.5 times to read one.

// appendInt appends a number as binary.AppendVarint does. Package encoding/binary would be initialised
// before the helper, and package reflect with it.
func appendInt(b []byte, v int64) []byte {
	rest := uint64(v)<<1 ^ uint64(v>>63)
	for ; rest >= 0x80; rest >>= 7 {
		b = append(b, byte(rest)|0x80)
	}
	return append(b, byte(rest))
}

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

// messageReader consumes a message. After the first damage everything reads as zero and
// damaged is set, so that callers check once, at the end.
type messageReader struct {
	rest          []byte
	bad           bool
	sharesStrings bool // strings are parts of the message instead of copies
}

func (b *messageReader) damage() { b.bad, b.rest = true, nil }

func (b *messageReader) int() int64 {
	const lastShift = 63 // of the tenth byte, which has one bit
	var v uint64
	for i, c := range b.rest {
		shift := 7 * i
		if shift > lastShift || shift == lastShift && c > 1 {
			break
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			b.rest = b.rest[i+1:]
			return int64(v>>1) ^ -int64(v&1)
		}
	}
	b.damage()
	return 0
}

// upTo reads a number from 0 to max.
func (b *messageReader) upTo(max int64) int64 {
	v := b.int()
	if v < 0 || v > max {
		b.damage()
		return 0
	}
	return v
}

func (b *messageReader) bool() bool {
	if len(b.rest) == 0 || b.rest[0] > 1 {
		b.damage()
		return false
	}
	v := b.rest[0] == 1
	b.rest = b.rest[1:]
	return v
}

// bytes reads a string as a part of the message.
func (b *messageReader) bytes() []byte {
	n := b.int()
	if n < 0 || n > int64(len(b.rest)) {
		b.damage()
		return nil
	}
	v := b.rest[:n:n]
	b.rest = b.rest[n:]
	return v
}

func (b *messageReader) string() string {
	v := b.bytes()
	if b.sharesStrings {
		return unsafe.String(unsafe.SliceData(v), len(v))
	}
	return string(v)
}

// These are the sizes of the smallest string, Item, Job, Output, Access and Limit in a message. They bound
// the memory that a false number makes the reader allocate, to 16 times the message's length.
const (
	stringBytesMin = 1
	itemBytesMin   = 8
	jobBytesMin    = itemBytesMin + 6
	outputBytesMin = 7
	accessBytesMin = 4
	limitBytesMin  = 3
)

// count reads how many things of at least bytesMin follow.
func (b *messageReader) count(bytesMin int) int {
	n := b.int()
	if n < 0 || n > int64(len(b.rest)/bytesMin) {
		b.damage()
		return 0
	}
	return int(n)
}

// strings reads a list into the memory of another.
func (b *messageReader) strings(space []string) []string {
	list := space[:0]
	for range b.count(stringBytesMin) {
		list = append(list, b.string())
	}
	return list
}

func (b *messageReader) err() error {
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
	b = appendBool(b, it.Literal)
	return appendString(b, it.Content)
}

func (b *messageReader) item() Item {
	return Item{
		Name: b.string(), Target: b.string(), Exec: b.bool(),
		Size: b.int(), Offset: b.int(), Path: b.string(), Literal: b.bool(), Content: b.string(),
	}
}

// AppendFrame writes the message into buf, whose space is used again.
func (s *Setup) AppendFrame(buf []byte) []byte {
	b := beginFrame(buf)
	b = appendString(b, s.Root)
	b = appendString(b, s.Outbox)
	b = appendString(b, s.Canonical)
	b = appendStrings(b, s.Visible)
	b = appendBool(b, s.PIDNamespace)
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
	b = appendInt(b, int64(len(s.Limits)))
	for _, l := range s.Limits {
		b = appendInt(appendInt(appendInt(b, int64(l.Resource)), int64(l.Soft)), int64(l.Hard))
	}
	b = appendBool(b, s.Keep)
	b = appendBool(b, s.NoNetwork)
	return endFrame(appendString(b, s.Shim))
}

// Decode reads a message that AppendFrame wrote, without its header.
func (s *Setup) Decode(message []byte) error {
	b := messageReader{rest: message}
	s.Root, s.Outbox, s.Canonical = b.string(), b.string(), b.string()
	s.Visible, s.PIDNamespace = b.strings(nil), b.bool()
	s.Env = b.strings(nil)
	s.Given = make([]Item, b.count(itemBytesMin))
	for i := range s.Given {
		s.Given[i] = b.item()
	}
	s.Timeout, s.Grace, s.Patience = time.Duration(b.int()), time.Duration(b.int()), time.Duration(b.int())
	s.MemoryMax, s.OutputMax, s.ProcessesMax = b.int(), b.int(), b.int()
	s.Limits = make([]Limit, b.count(limitBytesMin))
	for i := range s.Limits {
		s.Limits[i] = Limit{int(b.int()), uint64(b.int()), uint64(b.int())}
	}
	s.Keep, s.NoNetwork, s.Shim = b.bool(), b.bool(), b.string()
	return b.err()
}

// AppendFrame writes the message into buf, whose space is used again.
func (r *Ready) AppendFrame(buf []byte) []byte {
	b := appendString(beginFrame(buf), r.Fault)
	b = appendBool(b, r.CorpusChanged)
	b = appendBool(b, r.DiskFull)
	b = appendBool(b, r.NoInotify)
	b = appendInt(b, r.Floor)
	return endFrame(appendInt(b, int64(r.HelperCPU)))
}

// Decode reads a message that AppendFrame wrote, without its header.
func (r *Ready) Decode(message []byte) error {
	b := messageReader{rest: message}
	r.Fault, r.CorpusChanged, r.DiskFull, r.NoInotify = b.string(), b.bool(), b.bool(), b.bool()
	r.Floor, r.HelperCPU = b.int(), time.Duration(b.int())
	return b.err()
}

// AppendFrame writes the message into buf, whose space is used again.
func (a *Batch) AppendFrame(buf []byte) []byte {
	b := appendInt(beginFrame(buf), int64(len(a.Jobs)))
	for i := range a.Jobs {
		j := &a.Jobs[i]
		b = appendItem(b, j.Source)
		b = appendString(b, j.Path)
		b = appendStrings(b, j.Args)
		b = appendBool(b, j.Stdin)
		b = appendBool(b, j.Observe)
		b = appendBool(b, j.Fork)
		b = appendBool(b, j.NewServer)
	}
	return endFrame(b)
}

// Decode reads a message that AppendFrame wrote, without its header. The jobs' strings are
// parts of the message, and are valid as long as it is. The memory of earlier jobs is reused.
func (a *Batch) Decode(message []byte) error {
	b := messageReader{rest: message, sharesStrings: true}
	n := b.count(jobBytesMin)
	a.Jobs = slices.Grow(a.Jobs[:0], n)[:n]
	for i := range a.Jobs {
		j := &a.Jobs[i]
		j.Source, j.Path, j.Args, j.Stdin = b.item(), b.string(), b.strings(j.Args), b.bool()
		j.Observe, j.Fork, j.NewServer = b.bool(), b.bool(), b.bool()
	}
	return b.err()
}

func appendOutput(b []byte, f *Output) []byte {
	b = appendString(b, f.Name)
	b = appendInt(b, int64(f.Form))
	b = appendBool(b, f.Exec)
	b = appendInt(b, f.Size)
	b = appendString(b, f.Content)
	b = appendString(b, f.Stored)
	return appendString(b, f.Target)
}

func (b *messageReader) output() Output {
	f := Output{
		Name: b.string(), Form: int(b.upTo(Gone)), Exec: b.bool(),
		Size: b.upTo(1<<63 - 1), Content: b.bytes(), Stored: b.string(), Target: b.string(),
	}
	if scan.Index(f.Stored, '/') >= 0 {
		b.damage() // it would lead out of the outbox
	}
	return f
}

// AppendFrame writes the message into buf, whose space is used again.
func (d *Answer) AppendFrame(buf []byte) []byte {
	b := appendString(beginFrame(buf), d.Fault)
	b = appendBool(b, d.CorpusChanged)
	b = appendBool(b, d.DiskFull)
	b = appendBool(b, d.Stuck)
	b = appendBool(b, d.NoServer)
	b = appendInt(b, int64(d.Kind))
	b = appendInt(b, int64(d.Code))
	b = appendInt(b, int64(d.CPU))
	b = appendInt(b, int64(d.Wall))
	b = appendInt(b, d.Peak)
	b = appendOutput(b, &d.Stdout)
	b = appendOutput(b, &d.Stderr)
	b = appendInt(b, int64(len(d.Files)))
	for i := range d.Files {
		b = appendOutput(b, &d.Files[i])
	}
	b = appendInt(b, d.Floor)
	b = appendInt(b, int64(d.HelperCPU))
	b = appendBool(b, d.NoInotify)
	b = appendBool(b, d.HelperEnds)
	b = appendBool(b, d.BatchEnds)
	return endFrame(appendObservation(b, d.Observed))
}

func appendObservation(b []byte, o *observe.Observation) []byte {
	b = appendBool(b, o != nil)
	if o == nil {
		return b
	}
	b = appendInt(b, int64(len(o.Accesses)))
	for i := range o.Accesses {
		a := &o.Accesses[i]
		b = appendString(b, a.Path)
		b = appendInt(b, int64(a.Kind))
		b = appendString(b, a.Folder)
		b = appendString(b, a.Head)
	}
	b = appendString(b, o.Contact)
	b = appendString(b, o.Blind)
	b = appendStrings(b, o.Missed)
	b = appendBool(b, o.NoPrivileges)
	b = appendStrings(b, o.Lost)
	return appendInt(b, int64(o.Events))
}

func (b *messageReader) observation() *observe.Observation {
	if !b.bool() {
		return nil
	}
	o := &observe.Observation{Accesses: make([]observe.Access, b.count(accessBytesMin))}
	for i := range o.Accesses {
		o.Accesses[i] = observe.Access{Path: b.string(), Kind: observe.Kind(b.upTo(observe.KindMax)), Folder: b.string(), Head: b.string()}
	}
	o.Contact, o.Blind, o.Missed = b.string(), b.string(), b.strings(nil)
	o.NoPrivileges, o.Lost, o.Events = b.bool(), b.strings(nil), int(b.upTo(1<<31))
	return o
}

// Decode reads a message that AppendFrame wrote, without its header.
func (d *Answer) Decode(message []byte) error {
	b := messageReader{rest: message}
	d.Fault, d.CorpusChanged, d.DiskFull, d.Stuck = b.string(), b.bool(), b.bool(), b.bool()
	d.NoServer = b.bool()
	d.Kind, d.Code = int(b.upTo(OutputLimit)), int(b.int())
	d.CPU, d.Wall, d.Peak = time.Duration(b.int()), time.Duration(b.int()), b.int()
	d.Stdout, d.Stderr = b.output(), b.output()
	d.Files = make([]Output, b.count(outputBytesMin))
	for i := range d.Files {
		d.Files[i] = b.output()
	}
	d.Floor, d.HelperCPU, d.NoInotify, d.HelperEnds = b.int(), time.Duration(b.int()), b.bool(), b.bool()
	d.BatchEnds = b.bool()
	d.Observed = b.observation()
	return b.err()
}

// Argument is the first argument that makes a program which imports this package a lane
// helper.
const Argument = "muster-lane-helper"

// A helper inherits these descriptors: its end of a stream socket pair, the archive or folder
// that holds the sources, and the end of a pipe for its answers. It prints a fatal error to
// standard error.
const (
	JobsFD    = 3
	CorpusFD  = 4
	AnswersFD = 5
)
