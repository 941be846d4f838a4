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

// digestPrefix begins the name of a file that holds an archive's digest.
const digestPrefix = "digest-"

// digestsKept is how many archives' digests are remembered.
const digestsKept = 16

// restMin is how long a file must have been left alone for its times to tell
// that it is what it was: a change within the same tick of the file system's
// clock would not show.
const restMin = 2 * time.Second

// digestCache remembers the digest of an archive, so that the next run need not
// read a gigabyte to know that it is the same. The zero cache forgets.
type digestCache struct {
	dir  string
	path string
}

// cacheFor returns the cache for what is in all, whose contents are not summed
// yet. It is for an archive that has rested, so that no change can be unseen.
func (c *Corpus) cacheFor(all []counted, rest time.Duration) digestCache {
	if c.source == nil || c.spoolDir == "" {
		return digestCache{}
	}
	// What is read may be another file: the archive as it was unpacked.
	info, err := c.file.Stat()
	if err != nil || !rested(info, rest) || !rested(c.source.info, rest) {
		return digestCache{}
	}
	h := sha256.New()
	fmt.Fprintf(h, "digest 2\n%s\n%s\n", c.source.key(), filestamp.Of(info))
	for i := range all {
		all[i].writeTo(h)
	}
	return digestCache{c.spoolDir, filepath.Join(c.spoolDir, digestPrefix+hex.EncodeToString(h.Sum(nil)[:16]))}
}

// rested reports whether nothing has changed a file for so long.
func rested(info fs.FileInfo, rest time.Duration) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && time.Since(info.ModTime()) > rest && time.Since(filestamp.ChangeTime(st)) > rest
}

func (d digestCache) load() (sum outcome.Digest, ok bool) {
	if d.path == "" {
		return sum, false
	}
	text, err := os.ReadFile(d.path)
	return sum, err == nil && sum.UnmarshalText(text) == nil
}

// store keeps the digest as long as few others are newer. What cannot be kept
// is computed again next time.
func (d digestCache) store(sum outcome.Digest) {
	if d.path == "" || os.MkdirAll(d.dir, 0o777) != nil {
		return
	}
	temp := fmt.Sprintf("%s.%d%s", d.path, os.Getpid(), spoolTemp)
	if os.WriteFile(temp, []byte(sum.String()), 0o666) != nil || os.Rename(temp, d.path) != nil {
		_ = os.Remove(temp)
		return
	}
	files := spool{dir: d.dir}.paths(digestPrefix, "")
	slices.SortFunc(files, func(a, b string) int { return modified(b).Compare(modified(a)) })
	for _, path := range files[min(len(files), digestsKept):] {
		_ = os.Remove(path)
	}
}
