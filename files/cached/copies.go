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
	"time"

	"muster/fileio"
)

// copies are the copies of files, in a store. Their bytes may be wrong after a power failure,
// because copying does not wait for the disk. So the bytes are verified when a copy is first used
// after a restart of the machine.
type copies struct {
	disk
	store Copies
	of    string // distinguishes the origin from others
	boot  string

	mu    sync.Mutex
	known map[string]*knownCopy // first copies of files, by the files' names
	stale map[string]int64      // files whose first copy could not be removed, with the number of the last failure; more than staleMax = all files
	fails int64                 // failures so far
}

// A knownCopy is a copy whose label was read. If the copy has another tag now, it was replaced.
type knownCopy struct {
	label
	tag string
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

// open opens a copy if it may be used: it was written or verified since the machine's start. The
// error is ErrBusy if that takes too long.
func (c *copies) open(ctx context.Context, name string, index int64) (openCopy, error) {
	found, err := c.find(ctx, name, index)
	if err == nil && found.Boot != c.boot {
		return openCopy{}, errors.Join(errDamaged, found.file.Close())
	}
	return found, err
}

// find is like open, and also returns copies of another boot. The Proven of a first copy is about the
// whole file.
func (c *copies) find(ctx context.Context, name string, index int64) (is openCopy, err error) {
	key := ""
	if index == 0 {
		c.mu.Lock()
		known, stale := c.known[name], c.stale[name] > 0 || len(c.stale) > staleMax
		c.mu.Unlock()
		defer func() { is.stale = stale }()
		if known != nil {
			key = known.Key
			f, _ := c.store.GetCached(ctx, key)
			if f != nil && f.Tag == known.tag && c.hanging.Load() == 0 {
				return openCopy{label: &known.label, file: f}, nil
			}
			closeFile(f)
		}
	}
	return c.attempt(ctx, func(*time.Timer) (openCopy, error) {
		return c.read(ctx, name, cmp.Or(key, c.key(name, index)), index)
	})
}

// read opens a copy and reads its label. It waits for the disk.
func (c *copies) read(ctx context.Context, name, key string, index int64) (openCopy, error) {
	f, err := c.store.Get(ctx, key)
	if err != nil {
		return openCopy{}, err
	}
	found, err := readLabel(ctx, f, index)
	if err != nil {
		return openCopy{}, errors.Join(err, f.Close())
	}
	if index > 0 || found.Boot != c.boot {
		return found, nil
	}
	last := found.last()
	if last > 0 && digestIn(name) != nil {
		if end, err := c.read(ctx, name, c.key(name, last), last); err == nil {
			found.Proven = end.Proven && end.Tag == found.Tag && end.Boot == c.boot
			_ = end.file.Close()
		}
	}
	if found.Proven || last == 0 { // another last copy would change it
		known := &knownCopy{*found.label, f.Tag}
		known.Tag, known.Boot, known.Key = strings.Clone(known.Tag), c.boot, key // else they hold the whole text
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
	r := &labeller{in: in, sum: sha256.New(), label: l, old: old, last: index == l.last()}
	r.label.Boot, r.label.Key = c.boot, c.key(name, index)
	if r.digest = digestIn(name); r.digest != nil && old == nil {
		r.whole = c.hashUntil(ctx, name, index, l.Tag)
	}
	_, err := c.attempt(ctx, func(slow *time.Timer) (openCopy, error) {
		r.slow = slow
		_, err := c.store.Put(ctx, r.label.Key, r, n+labelSize, nil)
		return openCopy{}, err
	})
	_ = in.CloseWithError(errEnough)
	if e := <-sent; e != nil && !errors.Is(e, errEnough) {
		return e
	}
	if errors.Is(err, errDamaged) {
		return err
	}
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

// verify makes a copy of an earlier boot usable, or returns an error. It closes the copy.
func (c *copies) verify(ctx context.Context, name string, index int64, old openCopy) error {
	_, err := c.attempt(ctx, func(*time.Timer) (openCopy, error) {
		err := c.write(ctx, name, index, *old.label, old.file, 0, old.text)
		return openCopy{}, errors.Join(err, old.file.Close())
	})
	return err
}

// remove removes the first copy of a file. Without it, the file's other copies are used only if they
// have the tag that the origin reports.
func (c *copies) remove(ctx context.Context, name string) error {
	ctx = context.WithoutCancel(ctx)
	_, err := c.attempt(ctx, func(*time.Timer) (openCopy, error) {
		return openCopy{}, c.store.Delete(ctx, c.key(name, 0), nil)
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // most have none
	}
	return err
}

// drop is like remove, for a file that was changed. If the copy stays, it is not served unasked.
func (c *copies) drop(ctx context.Context, name string) {
	c.mu.Lock()
	failure := c.stale[name]
	c.mu.Unlock()
	err := c.remove(ctx, name)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(c.stale) > staleMax: // the names of some are not known
	case err != nil:
		c.fails++
		c.stale[name] = c.fails
	case c.stale[name] == failure: // meanwhile no other removal failed, perhaps of a later copy
		delete(c.stale, name)
	}
}

// removeStale tries again to remove the stale copies, because the next process would serve them. It tries
// for as long as a hanging disk may take. Beyond staleMax, the names of stale copies are not known.
// Nothing else may use the copies meanwhile.
func (c *copies) removeStale() {
	begun := time.Now()
	for name := range c.stale {
		if time.Since(begun) > patience {
			return
		}
		_ = c.remove(context.Background(), name) // another may be removed
	}
}

// staleMax bounds copies.stale.
const staleMax = 16 << 10

func newCopies(store Copies, o Options) *copies {
	return &copies{
		store: store, of: o.Name, boot: cmp.Or(o.Boot, bootID()), disk: disk{log: cmp.Or(o.Log, slog.New(slog.DiscardHandler))},
		known: map[string]*knownCopy{}, stale: map[string]int64{},
	}
}
