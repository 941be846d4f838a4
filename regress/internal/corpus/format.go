package corpus

import (
	"bytes"
	"strconv"
	"strings"

	"muster/regress/internal/fault"
)

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
func firstNonzero(b []byte) int {
	for i, c := range b {
		if c != 0 {
			return i
		}
	}
	return len(b)
}

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

// formatByName returns the format that a file's name promises, or unknown.
func formatByName(path string) format {
	path = strings.ToLower(path)
	for suffix, f := range map[string]format{
		".tar": plain, ".gz": gzipped, ".tgz": gzipped, ".zst": zstandard, ".tzst": zstandard, ".xz": xzipped, ".txz": xzipped,
	} {
		if strings.HasSuffix(path, suffix) {
			return f
		}
	}
	return unknown
}

// recognise returns the format of an archive that begins with head, or an error that names what it
// is instead. The path is "" for a stream.
func recognise(label, path string, head []byte) (format, error) {
	f := sniff(head)
	switch {
	case len(head) == 0:
		return unknown, fault.Inputf("%s is empty (0 bytes); make or copy it again", label)
	case f == unknown && foreignName(head) != "":
		return unknown, fault.Inputf("%s is %s, not a tar; repack it as .tar, .tar.gz, .tar.zst or .tar.xz", label, foreignName(head))
	case f == unknown:
		return unknown, fault.Inputf("%s is not a tar, nor a gzip, zstd or xz compressed one; name an archive or a folder", label)
	}
	if p := formatByName(path); p != unknown && p != f {
		return unknown, fault.Inputf("%s is %s, not %s as its name says; rename it", label, f, p)
	}
	return f, nil
}
