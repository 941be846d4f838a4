package cause

import (
	"bytes"
	"path"
	"strings"

	"muster/regress/internal/outcome"
)

// looked is how much of a content says whether it is text.
const looked = 8 << 10

// isText reports whether both sides are there, of one form, and text.
func isText(p Part) bool {
	if p.Old == nil || p.Now == nil || p.Old.Form != p.Now.Form || p.Old.Form == outcome.Gone {
		return false
	}
	return len(p.OldText) < 1<<31-1 && len(p.NowText) < 1<<31-1 && readable(p.OldText) && readable(p.NowText)
}

func readable(b []byte) bool {
	b = b[:min(len(b), looked)]
	controls := 0
	for _, c := range b {
		if c == 0 {
			return false
		}
		if c < ' ' && !isSpace(c) && c != 0x1b {
			controls++
		}
	}
	return controls*10 <= len(b)
}

// fileKeys returns the patterns of a part but for edits of a text: that a file is new or
// gone, or of another form; or its executable bit, and contents that are no text.
func fileKeys(p Part) (keys []string) {
	what := kindOfName(p.Key)
	switch {
	case p.Old == nil:
		return []string{sortFile.key(come(p.Now) + " " + what)}
	case p.Now == nil:
		return []string{sortFile.key(gone(p.Old) + " " + what)}
	case p.Now.Form != p.Old.Form:
		return []string{sortFile.key(formName(p.Old) + " → " + formName(p.Now) + " " + what)}
	case p.Now.Exec && !p.Old.Exec:
		keys = append(keys, sortFile.key("executable "+what))
	case p.Old.Exec && !p.Now.Exec:
		keys = append(keys, sortFile.key("no longer executable "+what))
	}
	if !isText(p) && (len(keys) == 0 || !bytes.Equal(p.OldText, p.NowText)) {
		keys = append(keys, sortBinary.key(contents(p.OldText, p.NowText)+" "+what))
	}
	return keys
}

// whatHappened returns from the rest of such a key what happened, without the extension that
// kindOfName has put behind it, and without what contents says of the bytes.
func whatHappened(rest string) string {
	what, _, _ := strings.Cut(rest, " *")
	what, _, _ = strings.Cut(what, ",")
	return what
}

// come names what was not there before. That a source is removed is no new file: who takes
// new files must not take that too.
func come(p *outcome.Part) string {
	if p.Form == outcome.Gone {
		return "source removed"
	}
	return "new " + formName(p)
}

// gone names what is no longer there.
func gone(p *outcome.Part) string {
	if p.Form == outcome.Gone {
		return "source no longer removed"
	}
	return "no " + formName(p)
}

func formName(p *outcome.Part) string {
	return [...]string{"file", "link", "removed"}[min(p.Form, 2)]
}

// kindOfName groups files by extension.
func kindOfName(k outcome.Key) string {
	if k.Place != outcome.File {
		return k.String()
	}
	ext := path.Ext(k.Path)
	if len(ext) < 2 || len(ext) > 12 {
		return "without extension"
	}
	return "*" + strings.Map(func(r rune) rune {
		if r <= ' ' {
			return '_'
		}
		return r
	}, ext)
}

// contents says in what two contents differ that are no text.
func contents(old, now []byte) string {
	size := "same size"
	switch {
	case len(now) > len(old):
		size = "larger"
	case len(now) < len(old):
		size = "smaller"
	}
	a, b := magic(old), magic(now)
	if a != b {
		return a + " → " + b + ", " + size
	}
	at := commonPrefix(old, now)
	where := ", after the header"
	if at < 64 {
		where = ", in the header"
	}
	return a + ", " + size + where
}

// magic names a format by how it begins.
func magic(b []byte) string {
	for _, m := range [...][2]string{
		{"\x7fELF", "ELF"}, {"\x1f\x8b", "gzip"}, {"\x89PNG", "PNG"}, {"PK\x03\x04", "zip"}, {"!<arch>", "ar"},
		{"\x28\xb5\x2f\xfd", "zstd"}, {"\xfd7zXZ", "xz"}, {"\xca\xfe\xba\xbe", "class file"}, {"\x00asm", "wasm"},
		{"\xff\xd8\xff", "JPEG"}, {"%PDF", "PDF"}, {"RIFF", "RIFF"}, {"MZ", "PE"}, {"BC\xc0\xde", "LLVM bitcode"},
		{"\xcf\xfa\xed\xfe", "Mach-O"}, {"OggS", "Ogg"}, {"fLaC", "FLAC"}, {"GIF8", "GIF"},
	} {
		if bytes.HasPrefix(b, []byte(m[0])) {
			return m[1]
		}
	}
	switch {
	case len(b) == 0:
		return "empty"
	case readable(b):
		return "text"
	}
	return "binary"
}
