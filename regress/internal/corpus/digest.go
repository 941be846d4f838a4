package corpus

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/pool"
	"muster/regress"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/outcome"
)

// readBytes is the size of one read of a content. Most sources are smaller.
const readBytes = 128 << 10

// Digests identify a corpus as cases see it: as a whole, and entry by entry.
type Digests struct {
	// Whole covers the name, executable bit, size, content, link target and role (case or given) of
	// every entry. It does not depend on the container or its order: the same tree as a tar, a
	// compressed tar or a folder has the same digest.
	Whole outcome.Digest

	all []digestEntry // by name
}

// Case returns the digest of a case's source, or zero for a name that is not a case.
func (d Digests) Case(caseName string) outcome.Digest {
	i, found := slices.BinarySearchFunc(d.all, caseName, func(e digestEntry, n string) int { return strings.Compare(e.Name, n) })
	if !found || !d.all[i].isCase {
		return outcome.Digest{}
	}
	return d.all[i].digest()
}

// Shared returns the digests of the files and links that every case is given, by name.
func (d Digests) Shared() map[string]outcome.Digest {
	shared := map[string]outcome.Digest{}
	for i := range d.all {
		if e := &d.all[i]; e.isGiven {
			shared[e.Name] = e.digest()
		}
	}
	return shared
}

// Digests returns the digests of everything that cases see. It reads each content once, on all
// CPUs. It reads none for an archive whose digests are in the spool folder, and whose stamp can be trusted.
func (c *Corpus) Digests(ctx context.Context) (Digests, error) {
	all := c.digestEntries()
	cache := c.cacheFor(all, filestamp.RestMin)
	if whole, ok := cache.load(all); ok {
		return Digests{whole, all}, nil
	}
	if err := c.sumContents(ctx, all); err != nil {
		if ctxErr := stopError(ctx, c.label); ctxErr != nil {
			return Digests{}, ctxErr
		}
		return Digests{}, err
	}
	whole := digestOfAll(all)
	if c.Changed() == nil {
		cache.store(whole, all)
	}
	return Digests{whole, all}, nil
}

// sumContents reads every content once.
func (c *Corpus) sumContents(ctx context.Context, all []digestEntry) error {
	buffers := sync.Pool{New: func() any { return new([readBytes]byte) }}
	return pool.ForEach(ctx, runtime.GOMAXPROCS(0), sameContents(all), func(ctx context.Context, same []*digestEntry) error {
		buf := buffers.Get().(*[readBytes]byte)
		defer buffers.Put(buf)
		sum, err := c.digestContent(ctx, *same[0].Entry, buf[:])
		for _, e := range same {
			e.sum = sum
		}
		return err
	})
}

func digestOfAll(all []digestEntry) outcome.Digest {
	h := sha256.New()
	io.WriteString(h, "corpus 1\n")
	writeAll(h, all)
	return outcome.Digest(h.Sum(nil))
}

// digestEntry is an entry with the digest of its content.
type digestEntry struct {
	*Entry
	sum outcome.Digest
}

// digest identifies the entry without its name. For a file that is not executable it is the digest
// of the content.
func (e *digestEntry) digest() outcome.Digest {
	switch {
	case e.IsLink:
		return outcome.Of([]byte("link\n" + e.Path))
	case e.Exec:
		return outcome.Of(append([]byte("executable\n"), e.sum[:]...))
	}
	return e.sum
}

// digestEntries returns all entries sorted by name.
func (c *Corpus) digestEntries() []digestEntry {
	all := make([]digestEntry, 0, len(c.cases)+len(c.given))
	for i := range c.cases {
		all = append(all, digestEntry{Entry: &c.cases[i]})
	}
	for i := range c.given {
		if e := &c.given[i]; !e.isCase { // else it is there already
			all = append(all, digestEntry{Entry: e})
		}
	}
	slices.SortFunc(all, func(a, b digestEntry) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// sameContents groups the regular entries by the place of their content, in order of place. Links
// must not make muster read one content a million times.
func sameContents(all []digestEntry) [][]*digestEntry {
	files := make([]*digestEntry, 0, len(all))
	for i := range all {
		if !all[i].IsLink {
			files = append(files, &all[i])
		}
	}
	place := func(a, b *digestEntry) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), strings.Compare(a.Path, b.Path), cmp.Compare(a.Size, b.Size))
	}
	slices.SortFunc(files, place)
	var groups [][]*digestEntry
	for len(files) > 0 {
		n := 1
		for n < len(files) && place(files[0], files[n]) == 0 {
			n++
		}
		groups = append(groups, files[:n])
		files = files[n:]
	}
	return groups
}

func (c *Corpus) digestContent(ctx context.Context, e Entry, buf []byte) (outcome.Digest, error) {
	r, err := c.Open(e)
	if err != nil {
		return outcome.Digest{}, err
	}
	defer r.Close()
	h := sha256.New()
	for {
		n, err := r.Read(buf)
		h.Write(buf[:n])
		switch {
		case err == io.EOF:
			return outcome.Digest(h.Sum(nil)), nil
		case err != nil && regress.ClassOf(err) != regress.Input:
			return outcome.Digest{}, readError(c.label, e.Name, err)
		case err != nil:
			return outcome.Digest{}, err
		case ctx.Err() != nil:
			return outcome.Digest{}, ctx.Err()
		}
	}
}

// writeAll writes everything that cases see of the entries, with their digests.
func writeAll(h hash.Hash, all []digestEntry) {
	var b []byte
	for i := range all {
		b = all[i].appendTo(b[:0])
		h.Write(b)
	}
}

func (e *digestEntry) appendTo(b []byte) []byte {
	for _, text := range []string{e.Name, e.Target()} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	for _, flag := range []bool{e.Exec, e.isCase, e.isGiven} {
		if flag {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	b = binary.AppendUvarint(b, uint64(e.Size))
	return append(b, e.sum[:]...)
}

// digestPrefix begins the name of a file that holds an archive's digests.
const digestPrefix = "digest-"

// digestsKept is the number of archives whose digests are kept. digestBytesKept bounds their size
// beside the newest: an entry takes 32 bytes.
const (
	digestsKept     = 16
	digestBytesKept = 64 << 20
)

// digestCache remembers the digests of an archive, so that the next run need not read a gigabyte to
// recognise it. The zero cache remembers nothing.
//
// The file holds the digest of the whole, then that of each entry's content, in the order of the
// names. Its own name is derived from names, sizes and links. To load 15,000 entries takes 2 ms
// (BenchmarkDigestKept). To read 1 GB of contents takes a second and more.
type digestCache struct {
	dir  string
	path string
}

// cacheFor returns the cache for the entries in all, which have no digests yet. It returns the zero cache
// for an archive whose stamp does not prove that the content is the same. An unpacked copy is named by the
// content of its archive, and only muster writes to it.
func (c *Corpus) cacheFor(all []digestEntry, rest time.Duration) digestCache {
	if c.source == nil || c.spoolDir == "" || c.source.key == "" && !filestamp.IsTrusted(c.file, rest) {
		return digestCache{}
	}
	info, err := c.file.Stat()
	if err != nil {
		return digestCache{}
	}
	identity := c.source.key + filestamp.Of(info)
	if c.source.key == "" {
		identity = filestamp.OfFile(c.file, info)
	}
	h := sha256.New()
	fmt.Fprintf(h, "digest 4\n%s\n", identity)
	writeAll(h, all)
	return digestCache{c.spoolDir, filepath.Join(c.spoolDir, digestPrefix+hex.EncodeToString(h.Sum(nil)[:16]))}
}

// load sets the digests of contents in all and returns that of the whole. The whole verifies the
// others: after damage it does not match, and the contents are read again.
func (d digestCache) load(all []digestEntry) (whole outcome.Digest, ok bool) {
	if d.path == "" {
		return whole, false
	}
	info, err := os.Stat(d.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(whole)*(1+len(all))) {
		return whole, false
	}
	kept, err := os.ReadFile(d.path)
	if err != nil || len(kept) != len(whole)*(1+len(all)) {
		return whole, false
	}
	rest := kept[copy(whole[:], kept):]
	for i := range all {
		rest = rest[copy(all[i].sum[:], rest):]
	}
	if digestOfAll(all) == whole {
		return whole, true
	}
	for i := range all {
		all[i].sum = outcome.Digest{} // a link's stays zero
	}
	return outcome.Digest{}, false
}

// store keeps the digests as long as few others are newer. If it fails, the next run computes them
// again.
func (d digestCache) store(whole outcome.Digest, all []digestEntry) {
	if d.path == "" || os.MkdirAll(d.dir, 0o777) != nil {
		return
	}
	kept := make([]byte, 0, len(whole)*(1+len(all)))
	kept = append(kept, whole[:]...)
	for i := range all {
		kept = append(kept, all[i].sum[:]...)
	}
	temp := fmt.Sprintf("%s.%d%s", d.path, os.Getpid(), spoolTemp)
	if os.WriteFile(temp, kept, 0o666) != nil || os.Rename(temp, d.path) != nil {
		_ = os.Remove(temp)
		return
	}
	d.prune(digestBytesKept)
}

// prune removes the oldest files beyond the bounds. The newest always stays.
func (d digestCache) prune(bytesMax int64) {
	files := spool{dir: d.dir}.paths(digestPrefix, "")
	slices.SortFunc(files, func(a, b string) int { return modTime(b).Compare(modTime(a)) })
	for i, path := range files {
		if info, err := os.Stat(path); err == nil && i > 0 {
			bytesMax -= info.Size()
		}
		if i >= digestsKept || bytesMax < 0 {
			_ = os.Remove(path)
		}
	}
}
