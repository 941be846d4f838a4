package corpus

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"muster/pool"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// readBytes is how much of a content is read at once: most sources are
// smaller.
const readBytes = 128 << 10

// counted is an entry, its part in the corpus, and the digest of its content.
type counted struct {
	*Entry
	isCase, isGiven bool
	sum             outcome.Digest
}

// Digest returns the digest of all that cases see: of every entry the name,
// executable bit, size, content, a link's target, and whether it is a case or
// given. The container does not count, nor the order in it: the same tree as a
// tar, a compressed tar or a folder has the same digest. Contents are read once
// each, on as many CPUs as there are, and those of an archive whose digest is
// in the spool folder not at all: it is known by the file's identity, size and
// times.
func (c *Corpus) Digest(ctx context.Context) (outcome.Digest, error) {
	all := c.counted()
	cache := c.cacheFor(all, restMin)
	if sum, ok := cache.load(); ok {
		return sum, nil
	}
	buffers := sync.Pool{New: func() any { return new([readBytes]byte) }}
	err := pool.ForEach(ctx, runtime.GOMAXPROCS(0), sameContents(all), func(ctx context.Context, same []*counted) error {
		buf := buffers.Get().(*[readBytes]byte)
		defer buffers.Put(buf)
		sum, err := c.sum(ctx, *same[0].Entry, buf[:])
		for _, e := range same {
			e.sum = sum
		}
		return err
	})
	if err != nil {
		if ctxErr := done(ctx, c.label); ctxErr != nil {
			return outcome.Digest{}, ctxErr
		}
		return outcome.Digest{}, err
	}
	h := sha256.New()
	io.WriteString(h, "corpus 1\n")
	for i := range all {
		all[i].writeTo(h)
	}
	sum := outcome.Digest(h.Sum(nil))
	if c.Changed() == nil {
		cache.store(sum)
	}
	return sum, nil
}

// counted returns all entries sorted by name.
func (c *Corpus) counted() []counted {
	all := make([]counted, 0, len(c.cases)+len(c.given))
	for i := range c.cases {
		all = append(all, counted{Entry: &c.cases[i], isCase: true})
	}
	for i := range c.given {
		all = append(all, counted{Entry: &c.given[i], isGiven: true})
	}
	slices.SortStableFunc(all, func(a, b counted) int { return strings.Compare(a.Name, b.Name) })
	kept := all[:0]
	for _, e := range all {
		if n := len(kept); n > 0 && kept[n-1].Name == e.Name {
			kept[n-1].isGiven = true // context is both
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// sameContents groups the regular entries by where their content stands, in
// that order: links must not make muster read one content a million times.
func sameContents(all []counted) [][]*counted {
	files := make([]*counted, 0, len(all))
	for i := range all {
		if all[i].Target == "" {
			files = append(files, &all[i])
		}
	}
	place := func(a, b *counted) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), strings.Compare(a.Path, b.Path), cmp.Compare(a.Size, b.Size))
	}
	slices.SortFunc(files, place)
	var groups [][]*counted
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

func (c *Corpus) sum(ctx context.Context, e Entry, buf []byte) (outcome.Digest, error) {
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
		case err != nil && fault.ClassOf(err) != fault.Input:
			return outcome.Digest{}, cannotRead(c.label, e.Name, err)
		case err != nil:
			return outcome.Digest{}, err
		case ctx.Err() != nil:
			return outcome.Digest{}, ctx.Err()
		}
	}
}

func (e *counted) writeTo(h hash.Hash) {
	var b []byte
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	flag := func(f bool) {
		if f {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	text(e.Name)
	text(e.Target)
	flag(e.Exec)
	flag(e.isCase)
	flag(e.isGiven)
	b = binary.AppendUvarint(b, uint64(e.Size))
	b = append(b, e.sum[:]...)
	h.Write(b)
}
