package cached

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"muster/fileio"
)

// labelSize is how many bytes the label of a copy takes. It follows the bytes of the file.
const labelSize = 1 << 10

// A label describes a copy. In the copy it begins with a SHA-256 that covers its text, which has the
// content's digest.
type label struct {
	Tag     string    // of the file, from its origin
	Size    int64     // of the file
	Changed time.Time // of the file; the copy's own time is that of its file
	Sum     [sha256.Size]byte
}

// tagMax is how long a tag may be, so that every label has room for it.
const tagMax = 512

// seal returns the bytes of the label. key is the name of the copy, because copies may be swapped.
func (l *label) seal(key string) []byte {
	text := strings.Join([]string{l.Tag, strconv.FormatInt(l.Size, 10), l.Changed.Format(time.RFC3339Nano), hex.EncodeToString(l.Sum[:]), key, ""}, "\n")
	text += strings.Repeat(" ", labelSize-sha256.Size-len(text))
	sum := sha256.Sum256([]byte(text))
	return append(sum[:], text...)
}

// parseLabel returns the label that seal made for a copy.
func parseLabel(data []byte, key string) (l label, ok bool) {
	lines := strings.SplitN(string(data[min(len(data), sha256.Size):]), "\n", 6)
	if len(lines) < 6 {
		return l, false
	}
	size, sizeErr := strconv.ParseInt(lines[1], 10, 64)
	changed, timeErr := time.Parse(time.RFC3339Nano, lines[2])
	sum, sumErr := hex.DecodeString(lines[3])
	if len(lines[0]) > tagMax || errors.Join(sizeErr, timeErr, sumErr) != nil || len(sum) != sha256.Size {
		return l, false
	}
	l = label{strings.Clone(lines[0]), size, changed, [sha256.Size]byte(sum)}
	return l, bytes.Equal(l.seal(key), data)
}

// digestIn returns the digest in a name such as cas/HASH; nil = the name is another one.
func digestIn(name string) []byte {
	folder, text := path.Split(name)
	if len(text) != hex.EncodedLen(sha256.Size) || path.Base(folder) != "cas" {
		return nil
	}
	digest, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	return digest
}

// key returns the name of the copy of a file. The 2 in it is the number of the format.
func (s *Store) key(name string) string {
	sum := sha256.Sum256([]byte("2\n" + s.name + "\n" + name))
	return Folder + hex.EncodeToString(sum[:])
}

// A knownCopy is a copy that this process wrote or verified. If the file of the copy has another tag now,
// it was replaced.
type knownCopy struct {
	label
	tag   string
	key   string // its name, computed once
	named bool   // the name of the file is its digest
}

// knownMax bounds Store.known. Each copy in it takes about 500 bytes. Others are verified again.
const knownMax = 16 << 10

// remember keeps a copy for open. It reports whether the name of the file is its digest.
func (s *Store) remember(name string, is *knownCopy) bool {
	is.named = bytes.Equal(digestIn(name), is.Sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.known {
		if len(s.known) < knownMax {
			break
		}
		delete(s.known, other)
	}
	s.known[name] = is
	return is.named
}

func (s *Store) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, name)
}

// open opens the copy of a file if it is known; nil = it is not.
func (s *Store) open(ctx context.Context, name string) (*knownCopy, *fileio.File) {
	s.mu.Lock()
	is := s.known[name]
	s.mu.Unlock()
	if is == nil {
		return nil, nil
	}
	f, err := s.copies.GetCached(ctx, is.key)
	if f == nil {
		f, err = s.copies.Get(ctx, is.key)
	}
	if err != nil || f.Tag != is.tag {
		s.reportRead(ctx, err)
		closeFile(f)
		return nil, nil
	}
	return is, f
}

// verify makes a copy of an earlier process known. It reports whether the copy is whole, belongs to a
// file with this tag, and has at most max bytes. With an empty tag the name must be the content's digest.
func (s *Store) verify(ctx context.Context, name, tag string, max int64) bool {
	f, err := s.copies.Get(ctx, s.key(name))
	if err != nil {
		s.reportRead(ctx, err)
		return false
	}
	defer closeFile(f)
	size := f.Size - labelSize
	if size < 0 || size > max {
		return false
	}
	var text bytes.Buffer
	sum := sha256.New()
	if err := errors.Join(f.CopyTo(ctx, &text, size, labelSize), f.CopyTo(ctx, sum, 0, size)); err != nil {
		return false
	}
	l, ok := parseLabel(text.Bytes(), f.Name)
	if !ok || l.Size != size || l.Sum != [sha256.Size]byte(sum.Sum(nil)) {
		return false
	}
	is := &knownCopy{label: l, tag: f.Tag, key: f.Name}
	if named := s.remember(name, is); tag == "" {
		return named
	}
	return tag == l.Tag
}

// write copies a file. It returns errNoCopy if the copy cannot be kept, or the error of the file.
func (s *Store) write(ctx context.Context, f *fileio.File) error {
	r := &labeller{in: f.NewReader(ctx), sum: sha256.New(), key: s.key(f.Name), label: label{Tag: f.Tag, Size: f.Size, Changed: f.Changed}}
	info, err := s.copies.Put(ctx, r.key, r, f.Size+labelSize, nil)
	if r.err != nil {
		return r.err
	}
	if err != nil {
		s.report(ctx, err)
		return errNoCopy
	}
	s.remember(f.Name, &knownCopy{label: r.label, tag: info.Tag, key: r.key})
	return nil
}

// A labeller reads the bytes of a file, and then the label of its copy.
type labeller struct {
	in    io.Reader
	err   error // of the file
	sum   hash.Hash
	key   string
	label label
	text  *bytes.Reader // nil = the file has not ended
}

// Read implements io.Reader.
func (r *labeller) Read(p []byte) (int, error) {
	if r.text != nil {
		return r.text.Read(p)
	}
	n, err := r.in.Read(p)
	_, _ = r.sum.Write(p[:n]) // a hash returns no error
	if err == io.EOF {
		r.label.Sum = [sha256.Size]byte(r.sum.Sum(nil))
		r.text = bytes.NewReader(r.label.seal(r.key))
		return n, nil
	}
	r.err = err
	return n, err
}

// drop removes the copy of a file whose name is its digest. Such a copy would be served without a request to the
// origin. Call it after a change of the file, even a refused one: the copy may be of an old file.
func (s *Store) drop(ctx context.Context, name string) error {
	if digestIn(name) == nil {
		return nil
	}
	s.mu.Lock()
	one := s.running[name]
	if one != nil {
		one.dropped = true
		one.cancel()
	}
	s.mu.Unlock()
	if one != nil {
		<-one.done
	}
	s.forget(name)
	if err := s.copies.Delete(context.WithoutCancel(ctx), s.key(name), nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// closeFile closes a file that was only read, if there is one.
func closeFile(f *fileio.File) {
	if f != nil {
		_ = f.Close()
	}
}
