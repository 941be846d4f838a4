package hole

import (
	"strings"
	"testing"
)

func TestSameName(t *testing.T) {
	for paths, want := range map[string]bool{
		"tmp.8GbFdW2rwk tmp.aO8J780h11":     true,
		"ccA1b2c3.o cczZ9kQ1.o":             true,
		"out/log-12.txt out/log-4711.txt":   true,
		"cache-0xa1/x cache-0xff/x":         true,
		"a1b2c3d4/x.js e5f6a7b8/x.js":       true,
		"main.o util.o":                     false,
		"first.log later.log":               false,
		"header.h source.c":                 false,
		"parser.log lexers.log":             false, // of one length, but words
		"12/a1b2c3 13/d4e5f6":               false, // two places
		"tmp.abcdefghij tmp.8GbFdW2rwk":     true,  // chance made a word without digits
		"x-12345678 x-7 x-123456789":        true,
		"id.1234567f id.12345678":           true, // hexadecimal digits
		"tmp.123456 tmp.a1b2c3":             true,
		"tmp.8GbFdW2rwk tmp.8GbFdW2rwk.bak": false,
		"x":                                 false,
	} {
		list := strings.Fields(paths)
		names := NamesOf(list[:1], list[1:])
		first, found := names.Of(list[0])
		for _, path := range list[1:] {
			other, _ := names.Of(path)
			found = found && other == first
		}
		if found != want {
			t.Errorf("%s: %v", paths, found)
		}
	}
}
