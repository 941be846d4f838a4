package corpus_test

import (
	"archive/tar"
	"strings"
	"testing"

	"muster/regress/internal/corpus"
)

// Each of these is refused with one error of class Input that names the
// archive, the entry and the mend.
func TestHostileArchives(t *testing.T) {
	a := file{name: "a", body: "A"}
	tooLong := strings.Repeat("n", 256)
	for title, c := range map[string]struct {
		tar  []byte
		want string // after the archive's name; … stands for anything
	}{
		"outside":                     {pack(t, a, file{name: "../evil", body: "x"}), ": entry ../evil: name ../evil leads outside; leave it out or rename it"},
		"outside within":              {pack(t, a, file{name: "d/../../evil", body: "x"}), ": entry d/../../evil: name d/../../evil leads outside; …"},
		"outside folder":              {pack(t, file{name: "../d/", typ: tar.TypeDir}, a), ": entry ../d/: name ../d/ leads outside; …"},
		"absolute":                    {pack(t, a, file{name: "/etc/passwd", body: "x"}), ": entry /etc/passwd: absolute name /etc/passwd; …"},
		"absolute folder":             {pack(t, file{name: "/", typ: tar.TypeDir}, a), ": entry /: absolute name /; …"},
		"empty":                       {join(header(ustar, "", '0', 0), endMarker), ": entry : empty name; …"},
		"the root as a file":          {join(header(ustar, ".", '0', 0), endMarker), ": entry .: name . is the root itself; …"},
		"NUL in a PAX path":           {join(header(ustar, "x", 'x', 14), block("14 path=a\x00bcd\n"), header(ustar, "a", '0', 0), endMarker), " is damaged at byte 0 or later, before the first entry: archive/tar: invalid tar header; copy or make it again"},
		"a part too long":             {pack(t, file{name: "d/" + tooLong, body: "x"}), ": entry d/" + tooLong + ": name " + strings.Repeat("n", 40) + "… has a part of 256 bytes, more than 255; …"},
		"a name too long":             {pack(t, file{name: strings.Repeat("d/", 2048) + "x", body: "x"}), ": entry d/…: name of 4097 bytes is longer than 4095; …"},
		"terminal escapes":            {pack(t, file{name: "../\x1b[2J\n", body: "x"}), ": entry ../%1B[2J%0A: name ../%1B[2J%0A leads outside; …"},
		"device":                      {pack(t, file{name: "dev/sda", typ: tar.TypeBlock}), ": entry dev/sda: is a device, which no case can be; leave it out"},
		"character device":            {pack(t, file{name: "tty", typ: tar.TypeChar}), ": entry tty: is a device, which no case can be; leave it out"},
		"fifo":                        {pack(t, file{name: "p", typ: tar.TypeFifo}), ": entry p: is a named pipe, which no case can be; leave it out"},
		"unknown type":                {join(header(ustar, "s", 'Z', 0), endMarker), ": entry s: has type 'Z', which is not known; …"},
		"symlink outside":             {pack(t, a, file{name: "d/l", link: "../../x"}), ": entry d/l, a link to ../../x, leads outside the corpus; …"},
		"symlink absolute":            {pack(t, a, file{name: "l", link: "/etc/passwd"}), ": entry l, a link to /etc/passwd, leads outside the corpus; …"},
		"outside by a chain":          {pack(t, file{name: "d/e/x", body: "x"}, file{name: "f", link: "d/e"}, file{name: "l", link: "f/../../../x"}), ": entry l, a link to f/../../../x, leads outside the corpus; …"},
		"outside by nothing":          {pack(t, a, file{name: "l", link: "missing/../../x"}), ": entry l, a link to missing/../../x, leads outside the corpus; …"},
		"outside by nothing, just":    {pack(t, a, file{name: "l", link: "missing/../.."}), ": entry l, a link to missing/../.., leads outside the corpus; …"},
		"through one outside":         {pack(t, file{name: "m", link: "/etc"}, file{name: "l", link: "m/passwd"}), ": entry m, a link to /etc, leads outside the corpus; …"},
		"loop":                        {pack(t, file{name: "l", link: "m"}, file{name: "m", link: "l"}), ": entry l, a link to m, goes round in a loop, or through more than 40 other links; …"},
		"loop in itself":              {pack(t, file{name: "l", link: "l/x"}), ": entry l, a link to l/x, goes round in a loop, …"},
		"41 links":                    {pack(t, append(chain(41), file{name: "d/a", body: "A"})...), ": entry l0, a link to l1, goes round in a loop, or through more than 40 other links; …"},
		"link, then through":          {pack(t, file{name: "d/x", body: "x"}, file{name: "l", link: "d"}, file{name: "l/evil", body: "x"}), ": entry l is a link and also the folder of l/evil; rename one of them"},
		"outside, then through":       {pack(t, file{name: "l", link: "/tmp"}, file{name: "l/evil", body: "x"}), ": entry l is a link and also the folder of l/evil; …"},
		"file and folder":             {pack(t, a, file{name: "a/b/c", body: "x"}), ": entry a is a file and also the folder of a/b/c; rename one of them"},
		"folder and file":             {pack(t, file{name: "a/b/c", body: "x"}, a), ": entry a is a file and also the folder of a/b/c; rename one of them"},
		"file and empty folder below": {pack(t, a, file{name: "a/b/", typ: tar.TypeDir}), ": entry a is a file and also the folder of a/b; …"},
		"hard link to later":          {pack(t, file{name: "h", link: "a", typ: tar.TypeLink}, a), ": entry h is a hard link to a, which no earlier entry is; …"},
		"hard link outside":           {pack(t, a, file{name: "h", link: "../x", typ: tar.TypeLink}), ": entry h: is a hard link, and name ../x leads outside; leave it out"},
		"hard link absolute":          {pack(t, a, file{name: "h", link: "/etc/passwd", typ: tar.TypeLink}), ": entry h: is a hard link, and absolute name /etc/passwd; leave it out"},
		"link without target":         {join(header(ustar, "l", '2', 0), endMarker), ": entry l: is a link to nothing at all; leave it out"},
		"a folder with bytes":         {join(header(ustar, "d/", '0', 1), block("x"), endMarker), ": entry d/: its name ends in a slash, and it has 1 byte of content; rename it"},
		"claims 1 TB":                 {join(header(ustar, "a", '0', 1), block("a"), huge("big", 1<<40), endMarker), ": entry big claims 1 TiB, more than the limit of 64 GiB; leave it out"},
		"claims 8 EiB":                {join(huge("big", 1<<63-1), endMarker), ": entry big claims 8 EiB, more than the limit of 64 GiB; leave it out"},
		"claims more than is":         {join(header(ustar, "a", '0', 1025), endMarker), " is truncated: it ends at byte 1536, in or after entry a, which needs 1 KiB of content; copy or make it again"},
		"negative size":               {join(negative("a"), endMarker), " is damaged at byte 0 or later, before the first entry: archive/tar: invalid tar header; …"},
		"global path":                 {pack(t, file{name: "g", typ: tar.TypeXGlobalHeader, pax: map[string]string{"path": "b"}}, a), ": entry b: is a global header that sets path for all entries, which is not supported; repack it"},
		"sparse":                      {join(header("ustar  \x00", "s", 'S', 0), endMarker), ": entry s: is sparse, so the archive lacks parts of it; repack it with tar without -S"},
		"sparse by a record":          {join(header(ustar, "x", 'x', 25), block("25 GNU.sparse.realsize=9\n"), header(ustar, "s", '0', 0), endMarker), ": entry s: is sparse, so the archive lacks parts of it; repack it with tar without -S"},
		"a lone zero block":           {join(header(ustar, "a", '0', 1), block("a"), endMarker[:512], header(ustar, "b", '0', 0), endMarker), " is damaged at byte 1024 or later, in or after entry a: archive/tar: invalid tar header; …"},
		"a header for no entry":       {join(header(ustar, "a", '0', 0), header(ustar, "x", 'x', 12), block("12 path=abc\n"), endMarker), " is truncated: it ends at byte 2560, in or after entry a; …"},
		"rubbish":                     {[]byte(strings.Repeat("no tar at all ", 100)), " is not a tar, nor a gzip, zstd or xz compressed one; name an archive or a folder"},
		"short rubbish":               {[]byte("x"), " is not a tar, …"},
		"empty file":                  {nil, " is empty (0 bytes); make or copy it again"},
		"zip":                         {[]byte("PK\x03\x04…"), " is a zip archive, not a tar; repack it as .tar, .tar.gz, .tar.zst or .tar.xz"},
		"bzip2":                       {[]byte("BZh91AY"), " is bzip2-compressed, not a tar; …"},
	} {
		t.Run(title, func(t *testing.T) {
			path := write(t, "c.tar", c.tar)
			like(t, refused(t, corpus.Options{Path: path}), path+c.want)
		})
	}
}

// like compares a message with one in which … stands for anything.
func like(t *testing.T, got, want string) {
	t.Helper()
	rest := got
	for i, part := range strings.Split(want, "…") {
		at := strings.Index(rest, part)
		if at < 0 || i == 0 && at > 0 {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		rest = rest[at+len(part):]
	}
	if rest != "" && !strings.HasSuffix(want, "…") {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// huge makes a header with a size in base 256.
func huge(fileName string, size int64) []byte {
	b := header("ustar  \x00", fileName, '0', 0)
	copy(b[124:], "\x80\x00\x00\x00")
	for i := range 8 {
		b[124+4+i] = byte(size >> (56 - 8*i))
	}
	return sign(b)
}

func negative(fileName string) []byte {
	b := huge(fileName, -1)
	for i := 124; i < 128; i++ {
		b[i] = 0xff
	}
	return sign(b)
}

// The content of an archive decides, and not its name.
func TestNameIsIgnored(t *testing.T) {
	tarred := pack(t, file{name: "a", body: "A"})
	for base, content := range map[string][]byte{"corpus": tarred, "c.tar.gz": tarred, "c.tgz": zst(tarred), "c.tar.zst": xzd(tarred), "c.TXZ": gz(tarred)} {
		if got := describe(t, open(t, corpus.Options{Path: write(t, base, content)})); got != "case a = A\n" {
			t.Errorf("%s: %s", base, got)
		}
	}
	for base, content := range map[string][]byte{"a.c.gz": gz([]byte("int main;")), "b.tar.gz": gz(gz(tarred))} {
		path := write(t, base, content)
		like(t, refused(t, corpus.Options{Path: path}), path+" is gzip-compressed, but its content is not a tar; …")
	}
}

func TestUnusablePaths(t *testing.T) {
	dir := t.TempDir()
	like(t, refused(t, corpus.Options{Path: dir + "/missing"}), "there is no corpus "+dir+"/missing; …")
	like(t, refused(t, corpus.Options{Path: write(t, "f", nil) + "/below"}), "there is no corpus …")
	like(t, refused(t, corpus.Options{Path: "/dev/null"}), "/dev/null is neither an archive nor a folder, but a device; …")
	like(t, refused(t, corpus.Options{Path: "-"}), "the corpus is standard input, and there is none")
	like(t, refused(t, corpus.Options{Path: dir, Headers: []string{"["}}), "the pattern [ is malformed: …")
	like(t, refused(t, corpus.Options{Path: dir, Context: []string{"{"}}), "the pattern { is malformed: …")
}
