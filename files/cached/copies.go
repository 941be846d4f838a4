package cached

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/fileio"
	"muster/internal/wording"
)

// copies are the copies of files, in a store. Their bytes may be wrong after a power failure,
// because copying does not wait for the disk. So the bytes are verified when a copy is first used
// after a restart of the machine.
type copies struct {
	store Origin
	of    string // distinguishes the origin from others
	boot  string
	log   *slog.Logger

	mu     sync.Mutex
	known  map[string]*knownCopy // first copies of files, by the files' names
	stale  map[string]bool       // files whose first copy could not be removed; more than staleMax = all files
	paused time.Time             // no copy is made until then
	warned time.Time
}

// A knownCopy is a copy whose label was read. If the copy has another tag now, it was replaced.
type knownCopy struct {
	label
	key, tag string
}

// knownMax bounds copies.known. Each takes about 500 bytes.
const knownMax = 16 << 10

// bootID identifies the time since the machine's start. If the system has no such identity, bootID is
// random, so copies are verified after each start of the server.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if text := strings.TrimSpace(string(id)); err == nil && text != "" {
		return text
	}
	return rand.Text()
}

// key returns the name of a copy. The 1 in it is the number of the format.
func (c *copies) key(name string, index int64) string {
	sum := sha256.Sum256([]byte("1\n" + c.of + "\n" + name + "\n" + strconv.FormatInt(index, 10)))
	return Folder + hex.EncodeToString(sum[:])
}

// open opens a copy if it may be used: it was written or verified since the machine's start.
func (c *copies) open(ctx context.Context, name string, index int64) (copied, error) {
	found, err := c.find(ctx, name, index)
	if err == nil && found.Boot != c.boot {
		return copied{}, errors.Join(errDamaged, found.file.Close())
	}
	return found, err
}

// find is like open, and also returns copies of another boot. The Proven of a first copy is about the
// whole file.
func (c *copies) find(ctx context.Context, name string, index int64) (is copied, err error) {
	var known *knownCopy
	if index == 0 {
		c.mu.Lock()
		known = c.known[name]
		stale := c.stale[name] || len(c.stale) > staleMax
		c.mu.Unlock()
		defer func() { is.stale = stale }()
	}
	key := ""
	if known != nil {
		key = known.key
	} else {
		key = c.key(name, index)
	}
	f, err := c.store.Get(ctx, key)
	if err != nil {
		return copied{}, err
	}
	if known != nil && f.Tag == known.tag {
		return copied{label: &known.label, file: f}, nil
	}
	found, err := readLabel(ctx, f, index)
	if err != nil {
		return copied{}, errors.Join(err, f.Close())
	}
	if index > 0 || found.Boot != c.boot {
		return found, nil
	}
	last := found.last()
	if last > 0 && digestIn(name) != nil {
		if end, err := c.open(ctx, name, last); err == nil {
			found.Proven = end.Proven && end.Tag == found.Tag
			_ = end.file.Close()
		}
	}
	if found.Proven || last == 0 { // another last copy would change it
		known = &knownCopy{*found.label, key, f.Tag}
		known.Tag, known.Boot, known.Hash = strings.Clone(known.Tag), c.boot, nil // else they hold the whole text
		c.remember(name, known, f.Changed)
	}
	return found, nil
}

// tick is longer than the resolution of the times of files. Within it, a new copy might have the
// tag of one that was deleted.
const tick = 100 * time.Millisecond

func (c *copies) remember(name string, is *knownCopy, written time.Time) {
	if time.Since(written) < tick {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for other := range c.known {
		if len(c.known) < knownMax {
			break
		}
		delete(c.known, other)
	}
	c.known[name] = is
}

func (c *copies) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, name)
}

// write makes a copy of the piece at an offset of a file. It returns only errors of the file: if no
// copy can be kept, write returns nil. The file may be a copy of an earlier boot, with the label old.
// Then write verifies its bytes.
func (c *copies) write(ctx context.Context, name string, index int64, l label, from *fileio.File, offset int64, old []byte) error {
	n := l.length(index)
	in, out := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := from.CopyTo(ctx, out, offset, n)
		_ = out.CloseWithError(err)
		sent <- err
	}()
	r := &labelled{in: in, sum: sha256.New(), label: l, old: old, last: index == l.last()}
	r.label.Boot = c.boot
	if r.digest = digestIn(name); r.digest != nil && old == nil {
		r.whole = c.hashUntil(ctx, name, index, l.Tag)
	}
	_, err := c.store.Put(ctx, c.key(name, index), r, n+labelSize, nil)
	_ = in.CloseWithError(errEnough)
	if e := <-sent; e != nil && !errors.Is(e, errEnough) {
		return e
	}
	if errors.Is(err, errDamaged) {
		return err
	}
	c.forget(name)
	c.report(ctx, err)
	return nil
}

// errEnough ends the reading of a file whose copy cannot be kept.
var errEnough = errors.New("no copy can be kept")

// hashUntil returns the hash of a file up to the beginning of a copy; nil = it is unknown.
func (c *copies) hashUntil(ctx context.Context, name string, index int64, tag string) hash.Hash {
	h := sha256.New()
	if index == 0 {
		return h
	}
	previous, err := c.open(ctx, name, index-1)
	if err != nil {
		return nil
	}
	_ = previous.file.Close()
	if state, ok := h.(encoding.BinaryUnmarshaler); !ok || previous.Tag != tag || state.UnmarshalBinary(previous.Hash) != nil {
		return nil
	}
	return h
}

// remove removes the first copy of a file. Without it, the file's other copies are used only if they
// have the tag that the origin reports.
func (c *copies) remove(ctx context.Context, name string) {
	c.forget(name)
	err := c.store.Delete(context.WithoutCancel(ctx), c.key(name, 0), nil)
	if err == nil || errors.Is(err, fs.ErrNotExist) { // most have none
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.stale) <= staleMax {
		c.stale[name] = true
	}
}

// staleMax bounds copies.stale.
const staleMax = 1000

// pauseTime is how long no copies are made after a failure, and warnTime how long no further
// warning is logged.
const (
	pauseTime = 10 * time.Second
	warnTime  = time.Hour
)

// report pauses copying after a failure. It is no failure if a copy does not fit because others are
// being made, or if too many operations wait.
func (c *copies) report(ctx context.Context, err error) {
	var errno syscall.Errno
	full := errors.Is(err, syscall.ENOSPC) && !errors.As(err, &errno)
	if err == nil || full || errors.Is(err, fileio.ErrBusy) || ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	now := time.Now()
	warn := now.Sub(c.warned) > warnTime
	c.paused = now.Add(pauseTime)
	if warn {
		c.warned = now
	}
	c.mu.Unlock()
	if !warn {
		return
	}
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		err = named.Err // the copy's name is a digest
	}
	reason := wording.Of(err)
	if errors.Is(err, fs.ErrNotExist) {
		reason = "its folder was removed: start the server again"
	}
	c.log.Warn("the cache cannot keep copies, so files are read from the object store", "reason", reason)
}

func (c *copies) isPaused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Before(c.paused)
}

func newCopies(store Origin, o Options) *copies {
	return &copies{
		store: store, of: o.Name, boot: cmp.Or(o.Boot, bootID()), log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		known: map[string]*knownCopy{}, stale: map[string]bool{},
	}
}
