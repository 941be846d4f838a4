// Package pages divides memory among clients as buffers, which grow with the data that arrives
// and shrink when others need the memory. The package must not know where the data goes.
package pages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"muster/internal/fair"
)

// sizes are the sizes of buffers. The smallest one is the unit of the budget. An index of sizes
// is called a class.
var sizes = [...]int{4 << 10, 16 << 10, 64 << 10, 256 << 10, Max}

// Max is the size of the largest buffer.
const Max = 512 << 10

// units returns how many units a buffer of a class takes.
func units(class int) int64 { return int64(sizes[class] / sizes[0]) }

// Memory is a budget of bytes, which clients take as buffers.
type Memory struct {
	budget *fair.Budget
	unused [len(sizes)]sync.Pool
}

// New returns a budget of bytes. waitMax is how long Take may wait; 0 = no limit.
func New(bytes int64, waitMax time.Duration) *Memory {
	return &Memory{budget: fair.New(fair.Options{Size: bytes / int64(sizes[0]), WaitingMax: waitingMax, WaitMax: waitMax, Shares: true})}
}

// waitingMax is how many operations may wait for memory. Further operations are refused.
const waitingMax = 1 << 16

// Held returns how many bytes clients hold.
func (m *Memory) Held() int64 { return m.budget.Stats().Held * int64(sizes[0]) }

// Refused returns how many times Take returned [fair.ErrBusy].
func (m *Memory) Refused() int64 { return m.budget.Stats().Refused }

// A Buffer is memory that a client holds.
type Buffer struct {
	Data []byte

	room   *[]byte // Data, as unused stores it
	class  int
	memory *Memory
	client fair.Client
}

// Take waits for the smallest buffer, and then fits it to size bytes.
func (m *Memory) Take(ctx context.Context, size int) (*Buffer, error) {
	return m.take(ctx, m.budget.Take, size)
}

// TakeLate is like Take, for an operation that has begun.
func (m *Memory) TakeLate(ctx context.Context, size int) (*Buffer, error) {
	return m.take(ctx, m.budget.TakeLate, size)
}

func (m *Memory) take(ctx context.Context, take func(context.Context, fair.Client) error, size int) (*Buffer, error) {
	b := &Buffer{memory: m, client: fair.ClientOf(ctx)}
	if err := take(ctx, b.client); err != nil {
		return nil, err
	}
	b.allocate(0)
	b.Fit(size)
	return b, nil
}

// TakeFrom takes a buffer for a file of size bytes, and fills it as FillFrom does. It reads one byte
// first: a client that announces a file and sends nothing holds no memory.
func (m *Memory) TakeFrom(ctx context.Context, r io.Reader, size int64) (b *Buffer, filled int, whole bool, err error) {
	one := make([]byte, min(max(size, -size), 1))
	n, err := Fill(r, one)
	if err == nil {
		b, err = m.Take(ctx, len(one))
	}
	if err != nil {
		return nil, 0, false, err
	}
	copy(b.Data, one[:n])
	if filled, whole, err = b.FillFrom(r, n, size); err != nil {
		b.Free()
	}
	return b, filled, whole, err
}

// Fit replaces the buffer by one that holds size bytes, or by a smaller one if the client's
// share does not suffice. The content is lost.
func (b *Buffer) Fit(size int) {
	b.Shrink()
	class := 0
	for class+1 < len(sizes) && sizes[class] < size {
		class++
	}
	for ; class > 0; class-- {
		if b.memory.budget.TryTake(b.client, units(class)-units(0)) {
			b.memory.unused[0].Put(b.room)
			b.allocate(class)
			return
		}
	}
}

// allocate gets the bytes of a class. The client must hold the units.
func (b *Buffer) allocate(class int) {
	room, ok := b.memory.unused[class].Get().(*[]byte)
	if !ok {
		made := make([]byte, sizes[class])
		room = &made
	}
	b.class, b.room, b.Data = class, room, *room
}

// grow moves the content to the next larger buffer. It returns false if the buffer has the
// largest size or the client's share does not suffice.
func (b *Buffer) grow() bool {
	next := b.class + 1
	if next == len(sizes) || !b.memory.budget.TryTake(b.client, units(next)-units(b.class)) {
		return false
	}
	room, class := b.room, b.class
	b.allocate(next)
	copy(b.Data, *room)
	b.memory.unused[class].Put(room)
	return true
}

// Shrink releases all but the smallest buffer. The content is lost.
func (b *Buffer) Shrink() {
	if b.class == 0 {
		return
	}
	more := units(b.class) - units(0)
	b.memory.unused[b.class].Put(b.room)
	b.allocate(0)
	b.memory.budget.Give(b.client, more)
}

// Free releases the memory. A second call does nothing.
func (b *Buffer) Free() {
	if b.Data == nil {
		return
	}
	b.memory.unused[b.class].Put(b.room)
	b.Data = nil
	b.memory.budget.Give(b.client, units(b.class))
}

// FillFrom reads into a buffer that holds n bytes. The buffer grows with the arriving data.
// FillFrom ends when the buffer is full and cannot grow, when r ends, or when the buffer holds
// left bytes. A negative left is no limit. FillFrom returns how many bytes the buffer holds, and
// whether the file ends there.
func (b *Buffer) FillFrom(r io.Reader, n int, left int64) (filled int, whole bool, err error) {
	for {
		room := len(b.Data)
		if left >= 0 {
			room = int(min(int64(room), left))
		}
		more, err := Fill(r, b.Data[n:room])
		n += more
		switch {
		case err != nil:
			return n, false, err
		case n < room || int64(n) == left:
			return n, true, nil
		case !b.grow():
			return n, false, nil
		}
	}
}

// Fill reads until data is full or r ends.
//
// Unlike io.ReadFull, it distinguishes the end of r from io.ErrUnexpectedEOF. r returns that error
// if it was cut off.
func Fill(r io.Reader, data []byte) (n int, err error) {
	for n < len(data) {
		more, err := r.Read(data[n:])
		n += more
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// ErrSize is the error of a reader with more or fewer bytes than were announced.
var ErrSize = errors.New("not as many bytes as were announced")

// CheckEnd checks that r has no more than n bytes, and that n is the announced size; -1 = none
// was announced.
func CheckEnd(r io.Reader, n, size int64) error {
	var one [1]byte
	more, err := io.ReadFull(r, one[:])
	switch {
	case more > 0:
		return fmt.Errorf("%w: more than %d", ErrSize, size)
	case err != io.EOF:
		return err
	case size >= 0 && n != size:
		return fmt.Errorf("%w: %d of %d", ErrSize, n, size)
	}
	return nil
}
