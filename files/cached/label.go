package cached

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/fileio"
)

// pieceSize is how many bytes of a file one copy holds. Further bytes are in further copies. A
// copy with its label fills the largest buffer of a store, so it is written at once.
const pieceSize = 512<<10 - labelSize

// labelSize is how many bytes the label takes. It follows the bytes of the file.
const labelSize = 1 << 10

// A label describes a copy. It begins with a SHA-256, which covers its text and the copy's bytes.
type label struct {
	Tag     string    // of the file, from its origin
	Size    int64     // of the whole file
	Changed time.Time // of the file; the copy's own time is that of its file
	Boot    string    // in which the copy was written or verified
	Key     string    // name of the copy, because copies may be swapped

	// The following are set for files named by their SHA-256.
	Hash   []byte // state of the SHA-256 of the file up to the end of this copy; nil = unknown
	Proven bool   // in the last copy of a file: the file has the SHA-256 of its name
}

// text returns the label's lines. They are read at every hit. JSON would take a fifth of a hit's time.
func (l *label) text() string {
	return strings.Join([]string{
		l.Tag, strconv.FormatInt(l.Size, 10), l.Changed.Format(time.RFC3339Nano), l.Boot, l.Key, strconv.FormatBool(l.Proven), hex.EncodeToString(l.Hash), "",
	}, "\n")
}

// parse reads the lines of text. It reports whether they are those of a label.
func (l *label) parse(text string) bool {
	lines := strings.SplitN(text, "\n", 8)
	if len(lines) < 8 {
		return false
	}
	l.Tag, l.Boot, l.Key, l.Proven = lines[0], lines[3], lines[4], lines[5] == "true"
	var errs [3]error
	l.Size, errs[0] = strconv.ParseInt(lines[1], 10, 64)
	l.Changed, errs[1] = time.Parse(time.RFC3339Nano, lines[2])
	l.Hash, errs[2] = hex.DecodeString(lines[6])
	return errs == [3]error{} && l.Size >= 0
}

// length returns how many bytes of the file the copy with this index holds.
func (l *label) length(index int64) int64 { return min(pieceSize, l.Size-index*pieceSize) }

func (l *label) last() int64 { return max(0, (l.Size-1)/pieceSize) }

// An openCopy is an open file of a copy. Its label is not verified if it is of another boot.
type openCopy struct {
	*label
	file  *fileio.File
	text  []byte // the label; nil = it is known
	stale bool   // it should have been removed, so ask the origin
}

// errDamaged is the error of a copy that cannot be used.
var errDamaged = errors.New("the copy is damaged, or was not verified since the machine's start")

// readLabel returns the copy in a file.
func readLabel(ctx context.Context, f *fileio.File, index int64) (openCopy, error) {
	if f.Size < labelSize {
		return openCopy{}, errDamaged
	}
	text := make(tail, 0, labelSize)
	if err := f.CopyTo(ctx, &text, f.Size-labelSize, labelSize); err != nil {
		return openCopy{}, err
	}
	l := &label{}
	if !l.parse(string(text[sha256.Size:])) || l.Key != f.Name || l.length(index) != f.Size-labelSize {
		return openCopy{}, errDamaged
	}
	return openCopy{label: l, file: f, text: text}, nil
}

// tail keeps what is written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	return len(p), nil
}

// A labeller reads the bytes of a copy, and then its label.
type labeller struct {
	in     io.Reader
	slow   *time.Timer // stands still while the bytes are waited for
	sum    hash.Hash
	label  label
	old    []byte // the label of the old copy that is verified; nil = this is a new one
	last   bool
	digest []byte    // of the whole file, from its name
	whole  hash.Hash // nil = not needed, or unknown
	text   *bytes.Reader
}

// Read implements io.Reader.
func (r *labeller) Read(p []byte) (int, error) {
	if r.text != nil {
		return r.text.Read(p)
	}
	r.slow.Stop()
	n, err := r.in.Read(p)
	r.slow.Reset(patience)
	_, _ = r.sum.Write(p[:n]) // a hash returns no error
	if r.whole != nil {
		_, _ = r.whole.Write(p[:n])
	}
	if err == io.EOF {
		err = r.end()
	}
	return n, err
}

// end makes the label.
func (r *labeller) end() error {
	l, sum := &r.label, r.sum.Sum(nil)
	if r.old != nil && !bytes.Equal(seal(sum, r.old[sha256.Size:]), r.old) {
		return errDamaged
	}
	switch {
	case r.whole == nil:
	case r.last:
		l.Proven = bytes.Equal(r.whole.Sum(nil), r.digest)
	default:
		if state, ok := r.whole.(encoding.BinaryMarshaler); ok {
			l.Hash, _ = state.MarshalBinary() // nil = unknown
		}
	}
	text := l.text()
	room := labelSize - sha256.Size - len(text)
	if room < 0 || strings.Contains(l.Tag, "\n") {
		return fmt.Errorf("an ETag of %d bytes is not possible", len(l.Tag))
	}
	r.text = bytes.NewReader(seal(sum, []byte(text+strings.Repeat(" ", room))))
	return nil
}

// seal returns the label of a copy whose bytes have this sum.
func seal(sum, text []byte) []byte {
	whole := sha256.Sum256(slices.Concat(sum, text))
	return append(whole[:], text...)
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
