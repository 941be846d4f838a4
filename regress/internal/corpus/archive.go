package corpus

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
)

// openArchive opens a file that holds an archive.
func (p *opener) openArchive(ctx context.Context) (*Corpus, error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return nil, readError(p.label, "", err)
	}
	defer func() {
		if f != nil {
			f.Close()
		}
	}()
	src, err := sourceOf(p.Path, f)
	if err != nil {
		return nil, readError(p.label, "", err)
	}
	form, err := p.recogniseFile(f)
	if err != nil {
		return nil, err
	}
	file, t, err := p.findTar(ctx, form, f, src)
	if err != nil {
		return nil, err
	}
	if file == f {
		f = nil // the corpus owns it now
	}
	c, err := p.finish(&Corpus{file: file, source: src}, t)
	if err == nil {
		err = c.Changed() // during indexing or unpacking
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return c, nil
}

func (p *opener) recogniseFile(f *os.File) (format, error) {
	head := make([]byte, blockBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return unknown, readError(p.label, "", err)
	}
	return recognise(p.label, head[:n])
}

// findTar returns an uncompressed tar, with its tree. It is the
// file itself, the copy that an earlier run unpacked, or a new copy.
func (p *opener) findTar(ctx context.Context, form format, f *os.File, src *source) (*os.File, *tree, error) {
	if form == plain {
		t, err := p.indexTar(ctx, f)
		return f, t, err
	}
	digests := filedigest.Open(filepath.Join(p.spool.dir, archivesFile))
	var err error
	if src.key, err = p.keyOf(ctx, digests, src, f); err != nil {
		return nil, nil, err
	}
	if kept := p.spool.find(src.key); kept != nil {
		t, err := p.indexTar(ctx, kept)
		if err == nil {
			digests.Save()
			return kept, t, nil
		}
		kept.Close()
		if err := stopError(ctx, p.label); err != nil {
			return nil, nil, err
		}
		// Damaged since then: unpack it again.
	}
	file, t, err := p.unpackToSpool(ctx, form, f, src.key)
	if err != nil {
		return nil, nil, err
	}
	if again, err := p.keyOf(ctx, digests, src, f); err != nil || again != src.key {
		file.Close()
		removeWhole(p.spool.wholePath(src.key)) // its name may be that of another content
		return nil, nil, cmp.Or(err, changedError(p.label, "it was written to"))
	}
	digests.Save()
	return file, t, nil
}

// format is the compression of an archive.
type format uint8

const (
	unknown format = iota
	plain
	gzipped
	zstandard
	xzipped
)

func (f format) String() string {
	return [...]string{"of an unknown format", "a plain tar", "gzip-compressed", "zstd-compressed", "xz-compressed"}[f]
}

// blockBytes is tar's unit: a header is one block, and contents are padded to whole blocks.
const blockBytes = 512

// sniff returns the format of an archive by its first block, which may be short.
func sniff(head []byte) format {
	starts := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case starts("\x1f\x8b"):
		return gzipped
	case starts("\x28\xb5\x2f\xfd"):
		return zstandard
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && starts(string(head[0])+"\x2a\x4d\x18"):
		return zstandard // a skippable frame comes first, as pzstd writes it
	case starts("\xfd7zXZ\x00"):
		return xzipped
	case looksTar(head):
		return plain
	}
	return unknown
}

// looksTar accepts a header with a valid checksum, in any dialect, and the end marker of an archive
// without entries.
func looksTar(head []byte) bool {
	if len(head) < blockBytes {
		return false
	}
	block := head[:blockBytes]
	if isZero(block) {
		return true
	}
	const at, width = 148, 8
	field := strings.Trim(string(block[at:at+width]), " \x00")
	want, err := strconv.ParseInt(field, 8, 64)
	if err != nil {
		return false
	}
	var unsigned, signed int64 // old tars summed signed bytes
	for i, c := range block {
		if i >= at && i < at+width {
			c = ' '
		}
		unsigned += int64(c)
		signed += int64(int8(c))
	}
	return want == unsigned || want == signed
}

func isZero(block []byte) bool { return firstNonzero(block) == len(block) }

// firstNonzero returns the index of the first byte that is not zero, or len(b).
func firstNonzero(b []byte) int { return len(b) - len(bytes.TrimLeft(b, "\x00")) }

// foreignName names a format that people mistake for a corpus, or returns "".
func foreignName(head []byte) string {
	for _, f := range []struct{ magic, name string }{
		{"BZh", "bzip2-compressed"}, {"PK\x03\x04", "a zip archive"}, {"PK\x05\x06", "a zip archive"},
		{"7z\xbc\xaf\x27\x1c", "a 7z archive"}, {"\x04\x22\x4d\x18", "lz4-compressed"}, {"LZIP", "lzip-compressed"},
		{"\x1f\x9d", "compress'ed"}, {"!<arch>\n", "an ar archive"}, {"070701", "a cpio archive"}, {"\x7fELF", "a program"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name
		}
	}
	return ""
}

// recognise returns the format of an archive that begins with head, or an error that names what it
// is instead.
func recognise(label string, head []byte) (format, error) {
	f := sniff(head)
	switch {
	case len(head) == 0:
		return unknown, fault.Inputf("%s is empty (0 bytes); make or copy it again", label)
	case f == unknown && foreignName(head) != "":
		return unknown, fault.Inputf("%s is %s, not a tar; repack it as .tar, .tar.gz, .tar.zst or .tar.xz", label, foreignName(head))
	case f == unknown:
		return unknown, fault.Inputf("%s is not a tar, nor a gzip, zstd or xz compressed one; name an archive or a folder", label)
	}
	return f, nil
}

// zstdWindowMax is how far back a zstd frame may refer, in bytes. All of it is in memory. The zstd
// program has the same limit without --long.
const zstdWindowMax = 128 << 20

// decoder returns the uncompressed stream. Consecutive gzip members, zstd frames or xz streams are
// one stream. label names the archive in errors. Close ends the decoding. Read returns the errors
// of the stream.
func decoder(ctx context.Context, f format, label string, src io.Reader) (io.ReadCloser, error) {
	switch f {
	case gzipped:
		return gzip.NewReader(bufio.NewReaderSize(src, 256<<10))
	case zstandard:
		d, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindowMax))
		if err != nil {
			return nil, err
		}
		return zstdStream{d.IOReadCloser()}, nil
	case xzipped:
		return xzDecoder(ctx, label, src)
	}
	return io.NopCloser(src), nil
}

type zstdStream struct{ io.ReadCloser }

func (z zstdStream) Read(p []byte) (int, error) {
	n, err := z.ReadCloser.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = fmt.Errorf("%w (%s); repack it without --long", err, readable.BinarySize(zstdWindowMax))
	}
	return n, err
}

// openStream opens an archive that can be read only once.
func (p *opener) openStream(ctx context.Context, src io.Reader) (*Corpus, error) {
	in, end := interruptible(ctx, src)
	defer end()
	head := bufio.NewReaderSize(in, 64<<10)
	first, err := head.Peek(blockBytes)
	if err != nil && err != io.EOF {
		if err := stopError(ctx, p.label); err != nil {
			return nil, err
		}
		return nil, readError(p.label, "", err)
	}
	form, err := recognise(p.label, first)
	if err != nil {
		return nil, err
	}
	file, t, err := p.unpackToSpool(ctx, form, head, "")
	if err != nil {
		return nil, err
	}
	c, err := p.finish(&Corpus{file: file}, t)
	if err != nil {
		file.Close()
		return nil, err
	}
	return c, nil
}

// interruptible makes reads end with the context. A read of a terminal or a pipe cannot be
// cancelled, so it is left behind. end releases the reader.
func interruptible(ctx context.Context, src io.Reader) (in io.Reader, end func()) {
	r, w := io.Pipe()
	stop := context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{src}, make([]byte, 256<<10))
		w.CloseWithError(err)
	}()
	return r, func() {
		stop()
		r.Close()
	}
}
