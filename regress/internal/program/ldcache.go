package program

import (
	"bytes"
	"encoding/binary"
	"os"
)

// The loader's cache, as glibc has written it since version 2.2: a header, entries, texts.
const (
	ldMagic      = "glibc-ld.so.cache1.1"
	ldHeaderSize = 48
	ldEntrySize  = 24
)

// readLoaderCache returns the paths of libraries by their names, best first. What cannot be read
// is an empty one: the default folders are left.
func readLoaderCache(file string) map[string][]string {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	// Behind it there may be one of an older form, before which this one begins.
	i := bytes.Index(b, []byte(ldMagic))
	if i < 0 || len(b)-i < ldHeaderSize {
		return nil
	}
	return parseLoaderCache(b[i:])
}

func parseLoaderCache(b []byte) map[string][]string {
	count := int(binary.NativeEndian.Uint32(b[len(ldMagic):]))
	if count > (len(b)-ldHeaderSize)/ldEntrySize {
		return nil
	}
	text := func(at uint32) string {
		if int64(at) >= int64(len(b)) {
			return ""
		}
		end := bytes.IndexByte(b[at:], 0)
		if end < 0 {
			return ""
		}
		return string(b[at:][:end])
	}
	libraries := make(map[string][]string, count)
	for i := range count {
		e := b[ldHeaderSize+i*ldEntrySize:]
		// Those for better processors may not run on a worker's.
		if hardware := binary.NativeEndian.Uint64(e[16:]); hardware != 0 {
			continue
		}
		if key, value := text(binary.NativeEndian.Uint32(e[4:])), text(binary.NativeEndian.Uint32(e[8:])); key != "" && value != "" {
			libraries[key] = append(libraries[key], value)
		}
	}
	return libraries
}
