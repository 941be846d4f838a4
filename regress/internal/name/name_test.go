package name_test

import (
	"strings"
	"testing"

	"muster/regress/internal/name"
)

func TestClean(t *testing.T) {
	good := map[string]string{
		"./a/b.go": "a/b.go", "a//b/": "a/b", "a/../b": "b", "a b\nc": "a b\nc", "\xff": "\xff", "..a": "..a",
		strings.Repeat("x", 255): strings.Repeat("x", 255),
	}
	for raw, want := range good {
		if got, err := name.Clean(raw); err != nil || got != want {
			t.Errorf("Clean(%q) = %q, %v; want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{"", "/etc/passwd", "../x", "a/../../x", "..", ".", "./", "a\x00b", strings.Repeat("x", 256), strings.Repeat("x/", 2049)} {
		if got, err := name.Clean(raw); err == nil {
			t.Errorf("Clean(%q) = %q, want an error", raw, got)
		}
	}
}

func TestPrintParseRoundTrip(t *testing.T) {
	for raw, want := range map[string]string{
		"a b.go": "a b.go", "100%": "100%25", "a\nb": "a%0Ab", "\xff\xfe": "%FF%FE", "é": "é", "\u202eevil": "%E2%80%AEevil", "�": "�",
	} {
		if got := name.Print(raw); got != want {
			t.Errorf("Print(%q) = %q, want %q", raw, got, want)
		}
	}
	for _, bad := range []string{"%", "a%4", "%zz", "100%"} {
		if _, err := name.Parse(bad); err == nil {
			t.Errorf("Parse(%q) accepted", bad)
		}
	}
}

func FuzzPrintParse(f *testing.F) {
	f.Add("a/b.go")
	f.Add("\xff%\n\u2028")
	f.Fuzz(func(t *testing.T, raw string) {
		printed := name.Print(raw)
		if strings.ContainsAny(printed, "\n\r\x1b\x00") {
			t.Fatalf("Print(%q) = %q holds a control byte", raw, printed)
		}
		if back, err := name.Parse(printed); err != nil || back != raw {
			t.Fatalf("Parse(Print(%q)) = %q, %v", raw, back, err)
		}
	})
}
