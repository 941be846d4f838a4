package observe_test

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
	"strings"
	"testing"

	"muster/regress/lane/observe"
)

func opener(file io.ReaderAt) string {
	return observe.Opener(func(b []byte, at int64) int {
		n, err := file.ReadAt(b, at)
		if err != nil && n == 0 {
			return -1
		}
		return n
	})
}

// A script has the interpreter of its first line, and a program its loader.
func TestOpener(t *testing.T) {
	for text, want := range map[string]string{
		"#!/bin/sh": "/bin/sh", "#! \t./a -x y\nz": "./a", "#!/a\tb": "/a", "#!\n/bin/sh": "", "#!/bin/sh\r\n": "/bin/sh\r", "#!": "", "": "",
		"echo": "", "\x7fELF": "", "\x7fELF\x02\x01" + strings.Repeat("\xff", 300): "",
	} {
		if got := opener(strings.NewReader(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if !observe.Supported {
		return // programs have another form
	}
	program, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	e, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP {
			text, err := io.ReadAll(p.Open())
			if err != nil {
				t.Fatal(err)
			}
			want = strings.TrimRight(string(text), "\x00")
		}
	}
	if got := opener(bytes.NewReader(program)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for n := range 1024 { // a cut program has none, and reading it ends
		if got := opener(bytes.NewReader(program[:n])); got != "" && got != want {
			t.Errorf("%d bytes: %q", n, got)
		}
	}
}
