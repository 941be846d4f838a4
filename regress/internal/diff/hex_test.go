package diff

import (
	"bytes"
	"strings"
	"testing"
)

func TestFullHex(t *testing.T) {
	content := make([]byte, 0x200)
	for i := range content {
		content[i] = byte(i)
	}
	edited := bytes.Clone(content)
	copy(edited[0x51:], "changed")
	edited[0x150] = 0
	grown := append(append(bytes.Clone(content[:0x81]), "put in here, twenty by"...), content[0x81:]...)
	var b bytes.Buffer
	for _, c := range []struct {
		title    string
		old, now []byte
	}{
		{"changed in place", content, edited},
		{"put in", content, grown},
		{"taken out", grown, content},
		{"text became binary", []byte("text\n"), []byte("te\x00t\n")},
		{"nothing became binary", nil, []byte{0, 1, 2}},
		{"equal", content, content},
	} {
		b.WriteString("== " + c.title + "\n")
		if err := Full(&b, c.old, c.now, false); err != nil {
			t.Fatal(err)
		}
	}
	checkGolden(t, "hex.txt", b.Bytes())
}

// Without room for all rows, both sides of a difference have some.
func TestHexHasBothSides(t *testing.T) {
	old, now := []byte("\x00"+strings.Repeat("o", 2000)), []byte("\x00"+strings.Repeat("n", 3000))
	got := Hex(old, now, Limits{Lines: 12})
	for _, want := range []string{"\n-00000000", "more lines taken out\n+00000000", "more lines put in\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if rows := Rows(got); rows != 12 {
		t.Errorf("%d rows", rows)
	}
}
