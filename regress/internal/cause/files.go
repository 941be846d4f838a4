package cause

import (
	"bytes"
	"path"
	"strings"

	"muster/regress/internal/outcome"
)

// sniffBytes is the length of the prefix that decides whether a content is text.
const sniffBytes = 8 << 10

// isText reports whether both sides exist, have the same form, and are text.
func isText(p Part) bool {
	if p.Old == nil || p.Now == nil || p.Old.Form != p.Now.Form || p.Old.Form == outcome.Gone {
		return false
	}
	return len(p.OldText) < 1<<31-1 && len(p.NowText) < 1<<31-1 && readable(p.OldText) && readable(p.NowText)
}

func readable(b []byte) bool {
	b = b[:min(len(b), sniffBytes)]
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

// fileKeys returns the patterns of a part other than edits of a text: a new or missing file,
// another form, another executable bit, and contents that are not text.
func fileKeys(p Part) (keys []string) {
	what := kindOfName(p.Key)
	switch {
	case p.Old == nil:
		return []string{sortFile.key(describeNew(p.Now) + " " + what)}
	case p.Now == nil:
		return []string{sortFile.key(describeGone(p.Old) + " " + what)}
	case p.Now.Form != p.Old.Form:
		return []string{sortFile.key(formName(p.Old) + " → " + formName(p.Now) + " " + what)}
	case p.Now.Exec && !p.Old.Exec:
		keys = append(keys, sortFile.key("executable "+what))
	case p.Old.Exec && !p.Now.Exec:
		keys = append(keys, sortFile.key("no longer executable "+what))
	}
	if !isText(p) && (len(keys) == 0 || !bytes.Equal(p.OldText, p.NowText)) {
		keys = append(keys, sortBinary.key(describeContents(p.OldText, p.NowText)+" "+what))
	}
	return keys
}

// whatHappened returns from the rest of such a key the event alone. It removes the extension
// (kindOfName) and the description of the bytes (describeContents).
func whatHappened(rest string) string {
	what, _, _ := strings.Cut(rest, " *")
	what, _, _ = strings.Cut(what, ",")
	return what
}

// describeNew describes a part that is new. A removed source is not a new file: accepting new files
// must not accept that too.
func describeNew(p *outcome.Part) string {
	if p.Form == outcome.Gone {
		return "source removed"
	}
	return "new " + formName(p)
}

// describeGone describes a part that is gone.
func describeGone(p *outcome.Part) string {
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

// describeContents describes the difference of two contents that are not text.
func describeContents(old, now []byte) string {
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

// magic names a format by its first bytes.
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
