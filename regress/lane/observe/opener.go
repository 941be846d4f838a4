package observe

import "muster/regress/lane/scan"

const (
	headBytes     = 256  // what the kernel looks at to find out how to execute a file
	openerMax     = 4096 // bytes of a path
	segmentsMax   = 1024
	segmentBytes  = 56 // struct elf64_phdr
	isInterpreter = 3  // PT_INTERP
)

// Opener returns the path of the file that the kernel opens to execute another: the interpreter of a script,
// or the loader of a program. It is "" if there is none. readAt reads the executed file, and returns the
// number of bytes.
func Opener(readAt func(b []byte, at int64) int) string {
	var head [headBytes]byte
	text := head[:max(0, readAt(head[:], 0))]
	if line, ok := scan.CutPrefix(string(text), "#!"); ok {
		line, _, _ = scan.Cut(line, '\n')
		for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			line = line[1:]
		}
		for _, end := range []byte{' ', '\t', 0} {
			line, _, _ = scan.Cut(line, end)
		}
		return line
	}
	const class64, littleEndian = 2, 1
	const headerBytes = 64 // struct elf64_hdr
	if len(text) < headerBytes || string(text[:4]) != "\x7fELF" || text[4] != class64 || text[5] != littleEndian {
		return ""
	}
	at, size, count := int64(number(text[32:], 8)), int64(number(text[54:], 2)), number(text[56:], 2)
	for range min(count, segmentsMax) {
		var segment [segmentBytes]byte
		if readAt(segment[:], at) < segmentBytes {
			return ""
		}
		if number(segment[:], 4) == isInterpreter {
			path := make([]byte, min(number(segment[32:], 8), openerMax))
			if readAt(path, int64(number(segment[8:], 8))) < len(path) {
				return ""
			}
			path, _, _ = scan.Cut(path, 0)
			return string(path)
		}
		at += size
	}
	return ""
}

// number reads a number of some bytes, the lowest first.
func number(b []byte, bytes int) (n uint64) {
	for i := bytes - 1; i >= 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n
}
