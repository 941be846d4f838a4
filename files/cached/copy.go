package cached

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"path"
	"sync/atomic"

	"muster/fileio"
)

// labelSize is how many bytes the label of a copy takes. It follows the bytes of the file.
const labelSize = 1 << 10

// A label describes a copy. In the copy it begins with a SHA-256 that covers its text.
type label struct {
	fileio.Info        // describes the file, but Name is the copy's, so that a swapped copy is noticed
	Sum         []byte // the content's SHA-256
}

// tagMax is how long a tag may be, so that every label has room for it.
const tagMax = 100

// seal returns the bytes of the label.
func (l *label) seal() []byte {
	text, _ := json.Marshal(l) // it cannot fail
	text = append(text, bytes.Repeat([]byte(" "), labelSize-sha256.Size-len(text))...)
	sum := sha256.Sum256(text)
	return append(sum[:], text...)
}

// parseLabel returns the label that seal made.
func parseLabel(data []byte) (l label, ok bool) {
	sum := sha256.Sum256(data[sha256.Size:])
	return l, bytes.Equal(sum[:], data[:sha256.Size]) && json.Unmarshal(data[sha256.Size:], &l) == nil
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

// key returns the name of the copy of a file. The 3 in it is the number of the format.
func (s *Store) key(name string) string {
	sum := sha256.Sum256([]byte("3\n" + s.name + "\n" + name))
	return Folder + hex.EncodeToString(sum[:])
}

// A knownCopy is a copy that this process wrote or verified. If the file of the copy has another tag now,
// it was replaced.
type knownCopy struct {
	label
	tag   string // of the copy's own file; label.Tag is the origin's
	named bool   // the name of the file is its digest
}

// knownMax bounds Store.known. Each copy in it takes about 500 bytes. Others are verified again.
const knownMax = 16 << 10

// remember keeps a copy for open. It reports whether the name of the file is its digest.
func (s *Store) remember(name string, is *knownCopy) bool {
	is.named = bytes.Equal(digestIn(name), is.Sum)
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
	f, err := s.copies.GetCached(ctx, is.Name)
	if f == nil {
		f, err = s.copies.Get(ctx, is.Name)
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
	l, ok := parseLabel(text.Bytes())
	if !ok || l.Name != f.Name || l.Size != size || !bytes.Equal(l.Sum, sum.Sum(nil)) {
		return false
	}
	if named := s.remember(name, &knownCopy{label: l, tag: f.Tag}); tag == "" {
		return named
	}
	return tag == l.Tag
}

// write copies a file. It returns errNoCopy if the copy cannot be kept, or the error of the file.
func (s *Store) write(ctx context.Context, f *fileio.File) error {
	r := &labeller{in: f.NewReader(ctx), sum: sha256.New(), label: label{Info: f.Info}}
	r.label.Name = s.key(f.Name)
	info, err := s.copies.Put(ctx, r.label.Name, r, f.Size+labelSize, nil)
	if r.err != nil {
		return r.err
	}
	if err != nil {
		s.report(ctx, err)
		return errNoCopy
	}
	s.remember(f.Name, &knownCopy{label: r.label, tag: info.Tag})
	return nil
}

// A labeller reads the bytes of a file, and then the label of its copy.
type labeller struct {
	in    io.Reader
	err   error // of the file
	sum   hash.Hash
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
		r.label.Sum = r.sum.Sum(nil)
		r.text = bytes.NewReader(r.label.seal())
		return n, nil
	}
	r.err = err
	return n, err
}

// changesOf returns the counter that a file shares.
func (s *Store) changesOf(name string) *atomic.Int32 {
	sum := sha256.Sum256([]byte(name))
	return &s.changes[binary.BigEndian.Uint32(sum[:])%uint32(len(s.changes))]
}

// drop removes the copy of a file whose name is its digest. Such a copy would be served without a request to the
// origin. Call it after a change of the file, even a refused one: the copy may be of an old file. A fetch in progress
// removes its copy itself.
func (s *Store) drop(ctx context.Context, name string) error {
	if digestIn(name) == nil {
		return nil
	}
	s.changesOf(name).Add(1)
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
