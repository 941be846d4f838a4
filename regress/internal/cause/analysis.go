package cause

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"sync"

	"muster/regress/internal/outcome"
)

// An Analysis collects the differences of cases and finds their causes.
type Analysis struct {
	scratch sync.Pool // of *scratch
	mu      sync.Mutex
	words   *words
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
	key     outcome.Key
	places  []place
	cuts    []int32
	tooMany bool // places has each pattern once
}

// New returns an analysis without cases.
func New() *Analysis {
	return &Analysis{scratch: sync.Pool{New: func() any { return &scratch{} }}, words: newWords()}
}

// Add adds a case. Several goroutines may call it at once, and each compares its own case. The
// order of the calls does not matter.
func (a *Analysis) Add(c Case) {
	s, w := a.compareCase(c)
	global := make([]int32, len(w.list))
	a.mu.Lock()
	for i, word := range w.list {
		global[i] = a.words.add(word)
		if is, known := w.spaces[int32(i)]; known {
			a.words.setSpaces(global[i], is)
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
		for i := range p.places {
			q := &p.places[i]
			q.pattern, q.before, q.after = global[q.pattern], global[q.before], global[q.after]
		}
	}
}

// compareCase compares the two sides of a case. The record that it returns refers to patterns by
// their numbers in the returned words.
func (a *Analysis) compareCase(c Case) (*caseRecord, *words) {
	s, w := &caseRecord{name: c.Name, size: c.Size}, newWords()
	scratch := a.scratch.Get().(*scratch)
	defer a.scratch.Put(scratch)
	ended, broken := endingPattern(c)
	if ended != "" {
		s.keys = append(s.keys, w.add(ended))
	}
	for _, p := range c.Parts {
		isText := isText(p)
		if !broken && (!isText || p.Old.Exec != p.Now.Exec) {
			for _, k := range fileKeys(p) {
				s.keys = append(s.keys, w.add(k))
			}
		}
		if !isText {
			s.parts = append(s.parts, partRecord{key: p.Key})
			continue
		}
		t := &text{old: p.OldText, now: p.NowText, words: w, scratch: scratch}
		t.around[0].text, t.around[1].text = t.old, t.now
		scratch.work = workFor(p.OldText, p.NowText)
		if broken {
			t.replaceAll(w.add(ended))
		} else {
			t.compare()
			t.matchRewraps()
			t.matchRenumbered()
			t.matchMoves()
			t.matchBrackets()
			if t.extents == nil && !t.isExact() {
				t.replaceAll(w.add(wholePattern))
			}
		}
		s.addText(t, p.Key)
	}
	if len(s.keys) == 0 && !slices.ContainsFunc(s.parts, func(p partRecord) bool { return len(p.places) > 0 }) {
		s.keys = append(s.keys, w.add(sortBinary.key("differs")))
	}
	return s, w
}

// addText adds the edits of a text.
func (s *caseRecord) addText(t *text, key outcome.Key) {
	p := partRecord{key: key, places: slices.Clip(t.places), cuts: slices.Clip(t.cuts)}
	if t.extents != nil {
		known := map[int32]bool{}
		p.tooMany, p.cuts = true, nil
		p.places = slices.DeleteFunc(p.places, func(q place) bool {
			again := known[q.pattern]
			known[q.pattern] = true
			return again
		})
		p.places = slices.Clone(p.places)
		for i := range p.places {
			p.places[i].cut, p.places[i].lines = -1, t.extents[p.places[i].pattern].lines
		}
	}
	s.changed += t.changed
	s.total += int64(max(len(t.old), len(t.now)))
	s.parts = append(s.parts, p)
}

// replaceAll makes one edit of everything that differs.
func (t *text) replaceAll(pattern int32) {
	from := commonPrefix(t.old, t.now)
	to := commonSuffix(t.old[from:], t.now[from:])
	t.places, t.cuts = t.places[:0], nil
	if from < len(t.old) || from < len(t.now) {
		t.places = append(t.places, place{
			LiteralEdit: LiteralEdit{Span{from, len(t.old) - to}, Span{from, len(t.now) - to}},
			pattern:     pattern, lines: 1, cut: -1,
		})
	}
}

// isExact reports whether nothing differs outside the edits. Something does if two contents had the same
// key.
func (t *text) isExact() bool {
	i, j := 0, 0
	for _, e := range t.places {
		if e.Old.From < i || e.Now.From < j || string(t.old[i:e.Old.From]) != string(t.now[j:e.Now.From]) {
			return false
		}
		i, j = e.Old.To, e.Now.To
	}
	return string(t.old[i:]) == string(t.now[j:])
}

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
	case p.Old == nil && p.Now.Form == outcome.Gone: // no new file: accepting those must not accept this
		return []string{sortFile.key("source removed " + what)}
	case p.Old == nil:
		return []string{sortFile.key("new " + formName(p.Now) + " " + what)}
	case p.Now == nil && p.Old.Form == outcome.Gone:
		return []string{sortFile.key("source no longer removed " + what)}
	case p.Now == nil:
		return []string{sortFile.key("no " + formName(p.Old) + " " + what)}
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
