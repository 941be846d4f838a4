package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"muster/regress/internal/filestamp"
	"muster/regress/internal/outcome"
)

// digestPrefix begins the name of a file that holds an archive's digests.
const digestPrefix = "digest-"

// digestsKept is the number of archives whose digests are kept. digestBytesKept bounds their size
// beside the newest: an entry takes 32 bytes.
const (
	digestsKept     = 16
	digestBytesKept = 64 << 20
)

// restMin is how long a file must be unchanged before its times identify it. A change within the
// same tick of the file system's clock would not show.
const restMin = 2 * time.Second

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

// cacheFor returns the cache for the entries in all, which have no digests yet. It returns the zero
// cache for an archive that changed recently, because a further change might not show.
func (c *Corpus) cacheFor(all []digestEntry, rest time.Duration) digestCache {
	if c.source == nil || c.spoolDir == "" {
		return digestCache{}
	}
	// The file that is read may be another one: the unpacked archive.
	info, err := c.file.Stat()
	if err != nil || !hasRested(info, rest) || !hasRested(c.source.info, rest) {
		return digestCache{}
	}
	h := sha256.New()
	fmt.Fprintf(h, "digest 3\n%s\n%s\n", c.source.key(), filestamp.Of(info))
	writeAll(h, all)
	return digestCache{c.spoolDir, filepath.Join(c.spoolDir, digestPrefix+hex.EncodeToString(h.Sum(nil)[:16]))}
}

// hasRested reports whether a file has not changed for the duration rest.
func hasRested(info fs.FileInfo, rest time.Duration) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && time.Since(info.ModTime()) > rest && time.Since(filestamp.ChangeTime(st)) > rest
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
