package bundle

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/outcome"
)

// digests remembers those of files from run to run, so that a compiler of 100 MB is not
// read again to know that it is the same.
type digests struct {
	file string // "" = nothing is remembered
	old  map[string]stamped
	now  map[string]stamped
	read int // files that were, for tests
}

// stamped is a digest, and what the file looked like that has it.
type stamped struct {
	Stamp string         `json:"stamp"`
	Hash  outcome.Digest `json:"hash"`
	Size  int64          `json:"size"`
}

// digestsVersion is that of the file. Another one is not read.
const digestsVersion = 1

type digestsFile struct {
	Version int                `json:"version"`
	Files   map[string]stamped `json:"files"`
}

// restMin is how long a file must have been left alone for its times to tell that it is
// what it was: a change within one tick of the file system's clock would not show.
const restMin = 2 * time.Second

func openDigests(file string) *digests {
	d := &digests{file: file, now: map[string]stamped{}}
	var kept digestsFile
	if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &kept) == nil && kept.Version == digestsVersion {
		d.old = kept.Files
	}
	return d
}

// errTooLarge says that a file is larger than it may be.
var errTooLarge = errors.New("too large")

// of is the digest of a file that has most bytes at most.
func (d *digests) of(file string, most int64) (blob.Digest, error) {
	f, info, err := openFile(file)
	if err != nil {
		return blob.Digest{}, fault.Reason(err)
	}
	defer f.Close()
	if info.Size() > most {
		return blob.Digest{}, errTooLarge
	}
	stamp := filestamp.Of(info)
	s := d.old[file]
	if s.Stamp != stamp {
		if s, err = d.sum(f, stamp); err != nil {
			return blob.Digest{}, err
		}
	}
	if rested(info) {
		d.now[file] = s
	}
	return blob.Digest{Hash: s.Hash, Size: s.Size}, nil
}

func (d *digests) sum(f *os.File, stamp string) (stamped, error) {
	d.read++
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return stamped{}, fault.Reason(err)
	}
	return stamped{Stamp: stamp, Hash: outcome.Digest(h.Sum(nil)), Size: n}, nil
}

func rested(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && time.Since(info.ModTime()) > restMin && time.Since(filestamp.ChangeTime(st)) > restMin
}

// save keeps what this run used. What cannot be kept is read again next time.
func (d *digests) save() {
	if d.file == "" || d.read == 0 {
		return
	}
	b, err := json.Marshal(digestsFile{digestsVersion, d.now})
	if err != nil || os.MkdirAll(filepath.Dir(d.file), 0o777) != nil {
		return
	}
	temp := fmt.Sprintf("%s.%d", d.file, os.Getpid())
	if os.WriteFile(temp, b, 0o666) != nil || os.Rename(temp, d.file) != nil {
		_ = os.Remove(temp)
	}
}
