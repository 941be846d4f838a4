package corpus_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"muster/regress/internal/corpus"
)

func TestArchiveKinds(t *testing.T) {
	long := strings.Repeat("d/", 60) + strings.Repeat("n", 255)
	for title, c := range map[string]struct {
		tar  []byte
		o    corpus.Options
		want string
	}{
		"order, headers anywhere, folders dropped": {
			pack(t, file{name: "./"}.dir(), file{name: "./z.c", body: "z"}, file{name: "src/", typ: tar.TypeDir}, file{name: "src/HDR_b.h", body: "b"},
				file{name: "a.c", body: "a", exec: true}, file{name: "HDR_last", body: ""}),
			corpus.Options{},
			lines("case z.c = z", "case a.c x = a", "given src/HDR_b.h = b", "given HDR_last = "),
		},
		"context is given and still a case, headers win": {
			pack(t, file{name: "HDR_a", body: "1"}, file{name: "inc/a.h", body: "2"}, file{name: "b.c", body: "3"}),
			corpus.Options{Context: []string{"**/*.h", "HDR_*"}},
			lines("case inc/a.h = 2", "case b.c = 3", "given HDR_a = 1", "given inc/a.h = 2"),
		},
		"headers replaced": {
			pack(t, file{name: "HDR_a", body: "1"}, file{name: "a.h", body: "2"}),
			corpus.Options{Headers: []string{"*.h"}},
			lines("case HDR_a = 1", "given a.h = 2"),
		},
		"no headers at all": {pack(t, file{name: "HDR_a", body: "1"}), corpus.Options{Headers: []string{}}, lines("case HDR_a = 1")},
		"the whole corpus as context": {
			pack(t, file{name: "a", body: "1"}, file{name: "d/b", body: "2"}),
			corpus.Options{Context: []string{"**"}},
			lines("case a = 1", "case d/b = 2", "given a = 1", "given d/b = 2"),
		},
		"long names as PAX and as GNU, and links to them": {
			pack(t, file{name: long + "p", body: "pax", format: tar.FormatPAX}.cut(255), file{name: long, body: "gnu", format: tar.FormatGNU},
				file{name: "to-gnu", link: long, format: tar.FormatGNU}, file{name: "to-pax", link: long, format: tar.FormatPAX}, file{name: "after", body: "!"}),
			corpus.Options{},
			lines("case "+cut(long+"p", 255)+" = pax", "case "+long+" = gnu", "case to-gnu = gnu", "case to-pax = gnu", "case after = !"),
		},
		"ustar prefix": {
			pack(t, file{name: strings.Repeat("p", 100) + "/" + strings.Repeat("q", 100), body: "u", format: tar.FormatUSTAR}),
			corpus.Options{},
			lines("case " + strings.Repeat("p", 100) + "/" + strings.Repeat("q", 100) + " = u"),
		},
		"names as raw bytes": {
			pack(t, file{name: "a b\n\xff%.c", body: "1"}, file{name: "é", body: "2", format: tar.FormatGNU}),
			corpus.Options{},
			lines("case a b%0A%FF%25.c = 1", "case é = 2"),
		},
		"old V7 entries, contiguous files, a folder by its slash": {
			join(header("", "v7", 0, 2), block("v7"), header("", "dir/", 0, 0), header(ustar, "seven", '7', 1), block("7"), header(ustar, "d2/", '0', 0), endMarker),
			corpus.Options{},
			lines("case v7 = v7", "case seven = 7"),
		},
		"a signed checksum": {signedChecksum("n\xc3\xa9"), corpus.Options{}, lines("case né = s")},
		"a global header without effect": {
			pack(t, file{name: "pax_global_header", typ: tar.TypeXGlobalHeader, pax: map[string]string{"comment": strings.Repeat("c", 700)}}, file{name: "a", body: "a"}),
			corpus.Options{},
			lines("case a = a"),
		},
		"a global header last": {
			pack(t, file{name: "a", body: "a"}, file{name: "pax_global_header", typ: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "c"}}),
			corpus.Options{},
			lines("case a = a"),
		},
		"a global header last, no end marker": {
			bytes.TrimSuffix(pack(t, file{name: "a", body: "a"}, file{name: "pax_global_header", typ: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "c"}}), endMarker),
			corpus.Options{},
			lines("case a = a"),
		},
		"the owner's executable bit": {
			join(moded("a", "0000100"), moded("b", "0000677"), moded("c", "0000077"), endMarker),
			corpus.Options{},
			lines("case a x = ", "case b = ", "case c = "),
		},
		"no end marker":         {join(header(ustar, "a", '0', 1), block("a")), corpus.Options{}, lines("case a = a")},
		"half an end marker":    {join(header(ustar, "a", '0', 1), block("a"), endMarker[:512]), corpus.Options{}, lines("case a = a")},
		"rubbish after the end": {join(header(ustar, "a", '0', 1), block("a"), endMarker, []byte("rubbish")), corpus.Options{}, lines("case a = a")},
		"nothing but an end":    {endMarker, corpus.Options{}, "\n"},
		"a name twice": {
			pack(t, file{name: "a", body: "old"}, file{name: "b", body: "b"}, file{name: "./a", body: "new!"}),
			corpus.Options{},
			lines("case b = b", "case a = new!"),
		},
		"a file over an empty folder, and back": {
			pack(t, file{name: "d/", typ: tar.TypeDir}, file{name: "d", body: "file"}, file{name: "e", body: "e"}, file{name: "e/", typ: tar.TypeDir}),
			corpus.Options{},
			lines("case d = file"),
		},
	} {
		t.Run(title, func(t *testing.T) {
			c.o.Path = write(t, "c.tar", c.tar)
			got := describe(t, open(t, c.o))
			if want := strings.TrimPrefix(c.want, "\n"); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func (f file) dir() file { f.typ = tar.TypeDir; return f }

// cut keeps a file's last part within a name's limit.
func (f file) cut(n int) file { f.name = cut(f.name, n); return f }

func cut(path string, n int) string {
	i := strings.LastIndexByte(path, '/') + 1
	return path[:i] + path[max(i, len(path)-n):]
}

func moded(fileName, mode string) []byte {
	b := header(ustar, fileName, '0', 0)
	copy(b[100:], mode)
	return sign(b)
}

func signedChecksum(fileName string) []byte {
	b := header("", fileName, '0', 1)
	copy(b[148:156], "        ")
	sum := 0
	for _, c := range b {
		sum += int(int8(c))
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return join(b, block("s"), endMarker)
}

// What is odd is said, once, with a count.
func TestNotes(t *testing.T) {
	var said []string
	path := write(t, "c.tar", join(pack(t,
		file{name: "a", body: "1"}, file{name: "a", body: "2"}, file{name: "a", body: "3"}, file{name: "b", body: "1"}, file{name: "b", body: "2"},
		file{name: "l1", link: "nowhere"}, file{name: "l2", link: "l1"}), pack(t, file{name: "second", body: "archive"})))
	open(t, corpus.Options{Path: path, Note: func(s string) { said = append(said, s) }})
	got := strings.ReplaceAll(strings.Join(said, "\n"), path, "C")
	want := `C goes on after its end marker, by 2048 bytes beyond it; if more entries are there, unpack it by tar --ignore-zeros and pack it again, or join the archives by tar --concatenate (-A)
C: of duplicate names the last entry counts: 3 (a, b, …)
C: links to nothing are left out: 2 (l1, l2)`
	if got != want {
		t.Errorf("said\n%s\nwant\n%s", got, want)
	}
}
