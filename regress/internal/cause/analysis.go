package cause

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"sync"

	"muster/regress/internal/cause/edit"
	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/outcome"
	"muster/regress/internal/plaintext"
)

// An Analysis collects the differences of cases and finds their causes.
type Analysis struct {
	scratch sync.Pool // of *edit.Comparer
	mu      sync.Mutex
	words   *edit.Words
	cases   []*caseRecord
}

// caseRecord holds what the analysis keeps of a case.
type caseRecord struct {
	name           string
	size           int64
	keys           []int32 // patterns of differences that are not edits
	parts          []partRecord
	changed, total int64 // bytes of its texts
}

type partRecord struct {
	key outcome.Key
	edit.Edits
}

// New returns an analysis without cases.
func New() *Analysis {
	return &Analysis{scratch: sync.Pool{New: func() any { return &edit.Comparer{} }}, words: edit.NewWords()}
}

// Add adds a case. Several goroutines may call it at once, and each compares its own case. The
// order of the calls does not matter.
func (a *Analysis) Add(c Case) {
	s, w := a.compareCase(c)
	global := make([]int32, len(w.List))
	a.mu.Lock()
	for i, word := range w.List {
		global[i] = a.words.Add(word)
		if is, known := w.Spaces[int32(i)]; known {
			a.words.SetSpaces(global[i], is)
		}
	}
	a.cases = append(a.cases, s)
	a.mu.Unlock()
	s.renumber(global)
}

func (s *caseRecord) renumber(global []int32) {
	for i, k := range s.keys {
		s.keys[i] = global[k]
	}
	for _, p := range s.parts {
		for i := range p.Places {
			q := &p.Places[i]
			q.Pattern, q.Before, q.After = global[q.Pattern], global[q.Before], global[q.After]
		}
	}
}

// compareCase compares the two sides of a case. The record that it returns refers to patterns by
// their numbers in the returned words.
func (a *Analysis) compareCase(c Case) (*caseRecord, *edit.Words) {
	s, w := &caseRecord{name: c.Name, size: c.Size}, edit.NewWords()
	scratch := a.scratch.Get().(*edit.Comparer)
	defer a.scratch.Put(scratch)
	ended, flip := endingPattern(&c), flipOf(&c)
	if ended != "" {
		s.keys = append(s.keys, w.Add(ended))
	}
	for _, p := range c.Parts {
		isText, byEnding := isText(p), flip.explains(p)
		if !byEnding && (!isText || p.Old.Exec != p.Now.Exec) {
			for _, k := range fileKeys(p) {
				s.keys = append(s.keys, w.Add(k))
			}
		}
		if !isText {
			s.parts = append(s.parts, partRecord{key: p.Key})
			continue
		}
		var e edit.Edits
		if !byEnding {
			e = scratch.Compare(p.OldText, p.NowText, w)
			byEnding = flip.explainsEdits(p, e)
		}
		if byEnding {
			e = edit.ReplaceAll(p.OldText, p.NowText, w.Add(ended))
		}
		s.parts = append(s.parts, partRecord{p.Key, e})
		s.changed += e.Changed
		s.total += int64(max(len(p.OldText), len(p.NowText)))
	}
	if len(s.keys) == 0 && !slices.ContainsFunc(s.parts, func(p partRecord) bool { return len(p.Places) > 0 }) {
		s.keys = append(s.keys, w.Add(pattern.Binary.Key("differs")))
	}
	return s, w
}

// isText reports whether both sides exist, have the same form, and are text.
func isText(p Part) bool {
	if p.Old == nil || p.Now == nil || p.Old.Form != p.Now.Form || p.Old.Form == outcome.Gone {
		return false
	}
	return len(p.OldText) < 1<<31-1 && len(p.NowText) < 1<<31-1 && plaintext.Is(p.OldText) && plaintext.Is(p.NowText)
}

// fileKeys returns the patterns of a part other than edits of a text: a new or missing file,
// another form, another executable bit, and contents that are not text.
func fileKeys(p Part) (keys []string) {
	what := kindOfName(p.Key)
	switch {
	case p.Old == nil && p.Now.Form == outcome.Gone: // no new file: accepting those must not accept this
		return []string{pattern.File.Key("source removed " + what)}
	case p.Old == nil:
		return []string{pattern.File.Key("new " + formName(p.Now) + " " + what)}
	case p.Now == nil && p.Old.Form == outcome.Gone:
		return []string{pattern.File.Key("source no longer removed " + what)}
	case p.Now == nil:
		return []string{pattern.File.Key("no " + formName(p.Old) + " " + what)}
	case p.Now.Form != p.Old.Form:
		return []string{pattern.File.Key(formName(p.Old) + " → " + formName(p.Now) + " " + what)}
	case p.Now.Exec && !p.Old.Exec:
		keys = append(keys, pattern.File.Key("executable "+what))
	case p.Old.Exec && !p.Now.Exec:
		keys = append(keys, pattern.File.Key("no longer executable "+what))
	}
	if !isText(p) && (len(keys) == 0 || !bytes.Equal(p.OldText, p.NowText)) {
		keys = append(keys, pattern.Binary.Key(describeContents(p.OldText, p.NowText)+" "+what))
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
	at := plaintext.CommonPrefix(old, now)
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
	case plaintext.Is(b):
		return "text"
	}
	return "binary"
}
