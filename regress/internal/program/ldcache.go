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

// loaderCache maps the names of libraries to their paths, best first.
type loaderCache struct {
	plain map[string][]string
	tuned map[string][]string // for particular processors, which a worker may not have
}

// readLoaderCache reads the loader's cache. A damaged one counts as empty, and the default folders
// remain.
func readLoaderCache(file string) (c loaderCache) {
	b, err := os.ReadFile(file)
	if err != nil {
		return c
	}
	// A cache of the older form may precede this one.
	i := bytes.Index(b, []byte(ldMagic))
	if i < 0 || len(b)-i < ldHeaderSize {
		return c
	}
	return parseLoaderCache(b[i:])
}

func parseLoaderCache(b []byte) (c loaderCache) {
	count := int(binary.NativeEndian.Uint32(b[len(ldMagic):]))
	if count > (len(b)-ldHeaderSize)/ldEntrySize {
		return c
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
	c.plain, c.tuned = make(map[string][]string, count), map[string][]string{}
	for i := range count {
		e := b[ldHeaderSize+i*ldEntrySize:]
		libraries := c.plain
		if hardware := binary.NativeEndian.Uint64(e[16:]); hardware != 0 {
			libraries = c.tuned
		}
		if key, value := text(binary.NativeEndian.Uint32(e[4:])), text(binary.NativeEndian.Uint32(e[8:])); key != "" && value != "" {
			libraries[key] = append(libraries[key], value)
		}
	}
	return c
}
