package corpus

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/fault"
)

// xzDictionaryMax is the largest dictionary that the xz library may allocate, in bytes: that of xz
// -9. The format allows 4 GiB in every block, and a kilobyte can hold dozens of blocks.
const xzDictionaryMax = 64 << 20

// xzGuard passes an xz stream on and stops before a block whose dictionary is too large, because
// the library allocates any size that a block's header asks for. It checks nothing else. If it does
// not understand the stream, it passes the rest on, and the library refuses it. Only one goroutine
// may use it.
type xzGuard struct {
	r     *bufio.Reader
	ready []byte // read, not yet passed on
	plain uint64 // bytes to pass on without inspection
	step  func() error
	err   error // returned after ready and plain

	check   int    // bytes of check after each block of this stream
	block   uint64 // bytes of the block, or of the index, after its header
	records uint64 // remaining records of the index, two numbers each
}

func newXZGuard(r io.Reader) *xzGuard {
	g := &xzGuard{r: bufio.NewReaderSize(r, 256<<10)}
	g.step = g.streamHeader
	return g
}

func (g *xzGuard) Read(p []byte) (int, error) {
	for len(g.ready) == 0 && g.plain == 0 && g.err == nil {
		g.ready = g.ready[:0]
		g.err = g.step()
	}
	if len(g.ready) > 0 {
		n := copy(p, g.ready)
		g.ready = g.ready[n:]
		return n, nil
	}
	if g.plain > 0 {
		n, err := g.r.Read(p[:min(uint64(len(p)), g.plain)])
		g.plain -= uint64(n)
		return n, err
	}
	return 0, g.err
}

// readThrough reads n bytes that are also passed on. At the end of the stream it returns fewer.
func (g *xzGuard) readThrough(n int) ([]byte, error) {
	at := len(g.ready)
	g.ready = append(g.ready, make([]byte, n)...)
	got, err := io.ReadFull(g.r, g.ready[at:])
	g.ready = g.ready[:at+got]
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return g.ready[at:], err
}

// giveUp passes the rest on to the library.
func (g *xzGuard) giveUp() error {
	g.plain = math.MaxUint64
	return nil
}

func (g *xzGuard) streamHeader() error {
	b, err := g.readThrough(4)
	if err != nil || binary.LittleEndian.Uint32(b) == 0 { // padding between streams
		return err
	}
	if b, err = g.readThrough(8); err != nil {
		return err
	}
	sizes := [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}
	g.check = sizes[b[3]&15]
	g.step = g.blockHeader
	return nil
}

func (g *xzGuard) blockHeader() error {
	b, err := g.readThrough(1)
	if err != nil {
		return err
	}
	if b[0] == 0 {
		g.block, g.step = 1, g.indexHeader
		return nil
	}
	if b, err = g.readThrough((int(b[0])+1)*4 - 1); err != nil {
		return err
	}
	size, ok := dictionary(b)
	if !ok {
		return g.giveUp()
	}
	if size > xzDictionaryMax {
		g.ready = nil
		return fmt.Errorf("a dictionary of %s, more than %s; install the xz program, or repack it with xz -9 or less", readable.BinarySize(size), readable.BinarySize(xzDictionaryMax))
	}
	g.block, g.step = 0, g.chunk
	return nil
}

// dictionary returns the dictionary size in a block's header, without its first byte.
func dictionary(b []byte) (size int64, ok bool) {
	flags, b := b[0], b[1:]
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return math.MaxUint64
		}
		b = b[n:]
		return v
	}
	for range flags>>6&1 + flags>>7 { // the block's sizes
		number()
	}
	for range flags&3 + 1 {
		const lzma2 = 0x21
		id, length := number(), number()
		if length > uint64(len(b)) {
			return 0, false
		}
		if id == lzma2 {
			if length != 1 || b[0] > 40 {
				return 0, false
			}
			return int64(2|b[0]&1) << (b[0]/2 + 11), true
		}
		b = b[length:]
	}
	return 0, false
}

// chunk reads the header of an LZMA2 chunk, which has its size.
func (g *xzGuard) chunk() error {
	b, err := g.readThrough(1)
	if err != nil {
		return err
	}
	control, head := b[0], 1
	switch {
	case control == 0:
		g.block++
		g.plain = -g.block&3 + uint64(g.check) // padding and check
		g.step = g.blockHeader
		return nil
	case control <= 2: // not compressed
		if b, err = g.readThrough(2); err != nil {
			return err
		}
		head += 2
	case control < 0x80:
		return g.giveUp()
	default:
		if b, err = g.readThrough(4); err != nil {
			return err
		}
		head, b = head+4, b[2:]
	}
	g.plain = uint64(binary.BigEndian.Uint16(b)) + 1
	if control >= 0xc0 {
		g.plain++ // new properties
	}
	g.block += uint64(head) + g.plain
	return nil
}

func (g *xzGuard) indexHeader() error {
	n, err := g.number()
	if err != nil {
		return err
	}
	g.records, g.step = n, g.indexRecord
	return nil
}

func (g *xzGuard) indexRecord() error {
	if g.records == 0 {
		const crc, footer = 4, 12
		g.plain = -g.block&3 + crc + footer
		g.step = g.streamHeader
		return nil
	}
	g.records--
	_, err := g.number()
	if err == nil {
		_, err = g.number()
	}
	return err
}

// number reads one of the format's numbers, seven bits a byte.
func (g *xzGuard) number() (uint64, error) {
	var v uint64
	for shift := 0; shift < 63; shift += 7 {
		b, err := g.readThrough(1)
		if err != nil {
			return 0, err
		}
		g.block++
		v |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v, nil
		}
	}
	return 0, g.giveUp()
}

// xzMemory bounds the memory of the xz program. Unpacking the output of xz -9 needs 65 MiB, and a
// dictionary may be larger still.
const xzMemory = "512MiB"

// xzProgram is the output of a running xz -dc. At the end, Read waits for the program and returns
// its failure instead of io.EOF: a stream that merely stopped must not pass for a whole one. Only
// one goroutine may use it.
type xzProgram struct {
	label  string // of the archive
	cmd    *exec.Cmd
	out    io.Reader
	errors bytes.Buffer
	ended  bool
	err    error // set at the end
}

// startXZ starts the program. A cancelled context kills it.
func startXZ(ctx context.Context, path, label string, src io.Reader) (*xzProgram, error) {
	p := &xzProgram{label: label, cmd: exec.CommandContext(ctx, path, "--decompress", "--stdout", "--no-warn", "--threads=0", "--memlimit-decompress="+xzMemory)}
	p.cmd.Stdin = src
	p.cmd.Stderr = &p.errors
	p.cmd.Env = []string{"LC_ALL=C"} // without XZ_OPT and XZ_DEFAULTS
	// A source that blocks must not delay the end of a failed program.
	p.cmd.WaitDelay = 2 * time.Second
	var err error
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

func (p *xzProgram) Read(b []byte) (int, error) {
	if p.ended {
		return 0, p.err
	}
	n, err := p.out.Read(b)
	if err == nil || n > 0 {
		return n, nil
	}
	p.end()
	return 0, p.err
}

func (p *xzProgram) end() {
	err := p.cmd.Wait()
	p.ended, p.err = true, io.EOF
	if err == nil {
		return
	}
	message := strings.TrimSpace(p.errors.String())
	message = strings.TrimPrefix(message, p.cmd.Path+": (stdin): ")
	p.err = fmt.Errorf("xz: %s (%w)", message, err)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() < 0 {
		if message != "" {
			err = fmt.Errorf("%w: %s", err, message)
		}
		p.err = &finalError{fault.Environmentf("%s cannot be unpacked: the xz program failed: %w; free memory and run again, or name the archive unpacked", p.label, err)}
	}
}

// Close kills the program if it still runs.
func (p *xzProgram) Close() error {
	if p.ended {
		return nil
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	p.end()
	return nil
}
