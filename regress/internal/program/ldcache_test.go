package program

import (
	"encoding/binary"
	"testing"
)

func FuzzLoaderCache(f *testing.F) {
	f.Add(aCache(1, 0))
	f.Add(aCache(1<<31, 0))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if len(b) >= ldHeaderSize {
			parseLoaderCache(b) // must not panic
		}
	})
}

// aCache has one library, or claims to have more.
func aCache(count uint32, hardware uint64) []byte {
	b := append([]byte(ldMagic), make([]byte, ldHeaderSize-len(ldMagic)+ldEntrySize)...)
	binary.NativeEndian.PutUint32(b[len(ldMagic):], count)
	e := b[ldHeaderSize:]
	binary.NativeEndian.PutUint32(e[4:], uint32(len(b)))
	binary.NativeEndian.PutUint32(e[8:], uint32(len(b)+len("liba.so")+1))
	binary.NativeEndian.PutUint64(e[16:], hardware)
	return append(b, "liba.so\x00/lib/liba.so\x00"...)
}

func TestLoaderCache(t *testing.T) {
	if got := parseLoaderCache(aCache(1, 0)); len(got.plain) != 1 || len(got.tuned) != 0 || got.plain["liba.so"][0] != "/lib/liba.so" {
		t.Errorf("%v", got)
	}
	if got := parseLoaderCache(aCache(1, 1<<62)); len(got.plain) != 0 || len(got.tuned) != 1 {
		t.Errorf("one for better processors is apart: %v", got)
	}
	if got := parseLoaderCache(aCache(1<<31, 0)); got.plain != nil {
		t.Errorf("%v", got)
	}
}
