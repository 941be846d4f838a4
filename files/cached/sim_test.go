package cached_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files/cached"
	"muster/test/kits/enginetest"
)

var simulations = flag.Int("simulations", 4, "how often users of files are simulated whose copies are on a disk that hangs and fails")

// Users of a few files, whose time is simulated: the origin is slow, files are replaced by this server
// and by others, copies vanish, the disk of the copies hangs and fails, readers leave, and the server
// is started again. A read returns a version that was current during the read, and nobody waits long
// for a disk that hangs.
func TestSimulation(t *testing.T) {
	for i := range *simulations {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { simulate(t, uint64(i)) })
		})
	}
}

// chance is a source of random numbers for several goroutines.
type chance struct {
	mu     sync.Mutex
	random *rand.Rand
}

func (c *chance) below(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

func (c *chance) pause(ctx context.Context, most time.Duration) error {
	select {
	case <-time.After(time.Duration(c.below(int(most)))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// slowOrigin takes some time for each answer. Like a bucket, it has no replaced files, and an answer ends
// with the context of the request.
type slowOrigin struct {
	cached.Origin
	chance *chance
	opened atomic.Int64
}

const answerMax = 100 * time.Millisecond

func (o *slowOrigin) Get(ctx context.Context, name string) (*fileio.File, error) {
	if err := o.chance.pause(ctx, answerMax); err != nil {
		return nil, err
	}
	f, err := o.Origin.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	o.opened.Add(1)
	return &fileio.File{Info: f.Info, Content: &slowContent{f, o, ctx}}, nil
}

func (o *slowOrigin) Stat(ctx context.Context, name string) (fileio.Info, error) {
	if err := o.chance.pause(ctx, answerMax); err != nil {
		return fileio.Info{}, err
	}
	return o.Origin.Stat(ctx, name)
}

type slowContent struct {
	*fileio.File
	o   *slowOrigin
	ctx context.Context
}

func (c *slowContent) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	if err := c.o.chance.pause(c.ctx, answerMax); err != nil {
		return err
	}
	if now, err := c.o.Origin.Stat(ctx, c.Name); err != nil || now.Tag != c.Tag {
		return fmt.Errorf("replaced: %w", fileio.ErrBusy)
	}
	return c.File.CopyTo(ctx, w, offset, n)
}

func (c *slowContent) Close() error {
	c.o.opened.Add(-1)
	return c.File.Close()
}

// badCopies is a store whose operations wait while it hangs, before they begin and after they have
// ended. Some fail.
type badCopies struct {
	cached.Copies
	chance *chance
	gate   atomic.Pointer[chan struct{}] // nil = open
	oneIn  int                           // fails; 0 = none
}

func (b *badCopies) pass() error {
	if gate := b.gate.Load(); gate != nil {
		<-*gate
	}
	if b.oneIn > 0 && b.chance.below(b.oneIn) == 0 {
		return syscall.EIO
	}
	return nil
}

func (b *badCopies) Get(ctx context.Context, name string) (*fileio.File, error) {
	if err := b.pass(); err != nil {
		return nil, err
	}
	f, err := b.Copies.Get(ctx, name)
	if gate := b.gate.Load(); gate != nil {
		<-*gate
	}
	return f, err
}

func (b *badCopies) Put(ctx context.Context, name string, r io.Reader, size int64, want fileio.Condition) (fileio.Info, error) {
	if err := b.pass(); err != nil {
		return fileio.Info{}, err
	}
	info, err := b.Copies.Put(ctx, name, r, size, want)
	return info, errors.Join(err, b.pass())
}

func (b *badCopies) Delete(ctx context.Context, name string, want fileio.Condition) error {
	if err := b.pass(); err != nil {
		return err
	}
	err := b.Copies.Delete(ctx, name, want)
	_ = b.pass()
	return err
}

// A simFile is a file with its history. The one of a digest exists in even versions.
type simFile struct {
	name         string
	content      []byte // of a digest; nil = the version decides
	size         int
	begun, ended atomic.Uint64 // versions
	unknown      bool          // a copy of an earlier version may have survived a restart
	change       chan struct{} // holds an element during a change
	bases        []byte
}

func (f *simFile) at(version uint64) []byte {
	if f.content != nil {
		return f.content
	}
	return append(binary.BigEndian.AppendUint64(nil, version), f.bases[:f.size]...)
}

func simulate(t *testing.T, seed uint64) {
	random := &chance{random: rand.New(rand.NewPCG(seed, 1))}
	of := &slowOrigin{Origin: newOrigin(t), chance: random}
	copies := &badCopies{Copies: openCopies(t, &direct.Engine{}, t.TempDir(), 6<<20), chance: random}
	if seed%2 == 1 {
		copies.oneIn = 15
	}
	var all []*simFile
	for i, size := range []int{0, 1000, pieceSize - 8, pieceSize + 1, 3 * pieceSize} {
		base := enginetest.Content(i, size)
		all = append(all,
			&simFile{name: fmt.Sprint("n/", i), size: size, bases: base, change: make(chan struct{}, 1)},
			&simFile{name: named(base), content: base, change: make(chan struct{}, 1)})
	}
	for _, f := range all {
		enginetest.Put(t, of.Origin, f.name, f.at(0))
	}
	for boot := range 3 {
		s := cached.New(sharedStore{of}, sharedCopies{copies}, cached.Options{Max: 6 << 20, Boot: fmt.Sprint(boot / 2)})
		stop := make(chan struct{})
		var disk, users sync.WaitGroup
		disk.Go(func() { breakDisk(copies, random, stop) })
		for range 12 {
			users.Go(func() {
				for range 25 {
					f := all[random.below(len(all))]
					_ = random.pause(t.Context(), 3*time.Second)
					begun := time.Now()
					if random.below(6) == 0 {
						f.replace(t, s, of.Origin, random)
					} else {
						f.read(t, s, random)
					}
					if waited := time.Since(begun); waited > 25*time.Second {
						t.Errorf("%s: a user waited for %v", f.name, waited)
					}
				}
			})
		}
		users.Wait()
		close(stop)
		disk.Wait()
		if err := s.Close(); err != nil || of.opened.Load() != 0 || s.Stats().Memory != 0 {
			t.Errorf("%v, %d files are open, %d bytes are in memory", err, of.opened.Load(), s.Stats().Memory)
		}
		for _, f := range all {
			f.unknown = true
		}
	}
}

func breakDisk(copies *badCopies, random *chance, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(random.below(int(30 * time.Second)))):
		}
		gate := make(chan struct{})
		copies.gate.Store(&gate)
		select {
		case <-stop:
		case <-time.After(time.Duration(random.below(int(3 * time.Minute)))):
		}
		copies.gate.Store(nil)
		close(gate)
	}
}

// replace changes the file through this server, or through another one.
func (f *simFile) replace(t *testing.T, s *cached.Store, of cached.Origin, random *chance) {
	f.change <- struct{}{}
	defer func() { <-f.change }()
	version := f.begun.Add(1)
	var through enginetest.Store = s
	if f.content == nil && random.below(2) == 0 {
		through = of
	}
	var err error
	if data := f.at(version); f.content != nil && version%2 == 1 {
		err = through.Delete(context.Background(), f.name, nil)
	} else {
		_, err = through.Put(context.Background(), f.name, bytes.NewReader(data), int64(len(data)), nil)
	}
	if err != nil {
		t.Error(err)
	}
	f.ended.Store(version)
	f.unknown = false
}

// read reads the file, perhaps backwards, or leaves meanwhile.
func (f *simFile) read(t *testing.T, s *cached.Store, random *chance) {
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	leaves := random.below(4) == 0
	if leaves {
		go func() {
			_ = random.pause(ctx, 2*time.Second)
			leave()
		}()
	}
	least := f.ended.Load()
	data, err := f.readPieces(ctx, s, random)
	most := f.begun.Load()
	switch {
	case err != nil && (leaves || errors.Is(err, fileio.ErrBusy) || bytes.Contains([]byte(err.Error()), []byte("replaced"))):
	case errors.Is(err, fs.ErrNotExist):
		if f.content == nil || least == most && least%2 == 0 {
			t.Errorf("%s of version %d to %d: %v", f.name, least, most, err)
		}
	case err != nil:
		t.Errorf("%s: %v", f.name, err)
	case f.content != nil:
		if !bytes.Equal(data, f.content) || least == most && least%2 == 1 && !f.unknown {
			t.Errorf("%s of version %d to %d has %d bytes", f.name, least, most, len(data))
		}
	default:
		version := binary.BigEndian.Uint64(data)
		if version < least || version > most || !bytes.Equal(data, f.at(version)) {
			t.Errorf("%s: %d bytes of version %d, not %d to %d", f.name, len(data), version, least, most)
		}
	}
}

func (f *simFile) readPieces(ctx context.Context, s *cached.Store, random *chance) ([]byte, error) {
	file, err := s.Get(ctx, f.name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, file.Size)
	ends := []int64{0, file.Size}
	if file.Size > 3 {
		cut := int64(random.below(int(file.Size)))
		ends = []int64{cut, file.Size, 0, cut}
	}
	for ; len(ends) > 0; ends = ends[2:] {
		var b bytes.Buffer
		if err := file.CopyTo(ctx, &b, ends[0], ends[1]-ends[0]); err != nil {
			return nil, err
		}
		copy(data[ends[0]:], b.Bytes())
		_ = random.pause(ctx, time.Second)
	}
	return data, nil
}
