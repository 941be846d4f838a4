package fileio

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Two names never share a file, even if the file system ignores case or normalises accents. No
// encoded name leaves its folder or looks like a temporary file.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z0-9._~+%/ -]{0,90}`)).Draw(t, "name")
		encoded := encode(name)
		if strings.ToLower(encoded) != encoded || strings.ContainsAny(encoded, "/~") || strings.HasPrefix(encoded, ".") {
			t.Fatalf("%q is on the disk as %q", name, encoded)
		}
		back, ok := decode(encoded)
		if ok != (CheckName(name) == nil) || ok && back != name {
			t.Fatalf("%q is on the disk as %q, which is %q, %v", name, encoded, back, ok)
		}
		if p := placeOf(name); p.folder < 0 || p.folder >= folders {
			t.Fatalf("%q is in folder %d", name, p.folder)
		}
	})
}

// Names spread over all folders.
func TestPlaces(t *testing.T) {
	count := map[int]int{}
	for i := range 256 * 100 {
		count[placeOf("load/"+string(rune('a'+i%26))+strings.Repeat("x", i%50)+rapid.StringN(1, 1, -1).Example(i)).folder]++
	}
	if len(count) != folders {
		t.Errorf("%d folders of %d are used", len(count), folders)
	}
}

// decode rejects names that encode does not produce.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"a", "+a", "%41", "%4", "+", "+%", "a%2fb", "%2E", "..", "~x", "A", "ä"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		if name, ok := decode(encoded); ok && (encode(name) != encoded || CheckName(name) != nil) {
			t.Errorf("%q is read as %q", encoded, name)
		}
	})
}
