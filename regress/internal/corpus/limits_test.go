package corpus_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress/internal/corpus"
)

// Each limit holds for an archive and for a folder, at its edge.
func TestLimits(t *testing.T) {
	files := []file{{name: "a", body: "12345"}, {name: "bb", body: "123"}, {name: "ccc", link: "a"}}
	dir := t.TempDir()
	for _, f := range files {
		if f.link != "" {
			if err := os.Symlink(f.link, filepath.Join(dir, f.name)); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, write(t, "c.tar", pack(t, files...)), write(t, "c.tgz", gz(pack(t, files...)))} {
		open(t, corpus.Options{Path: path, Limits: corpus.Limits{Entries: 3, EntryBytes: 5, TotalBytes: 1 << 20, NameBytes: 7}})
		for _, c := range []struct {
			l    corpus.Limits
			want string
		}{
			{corpus.Limits{Entries: 2}, " has more than 2 entries, the limit, at …; split it"},
			{corpus.Limits{EntryBytes: 4}, ": entry a claims 5 bytes, more than the limit of 4 bytes; leave it out"},
			{corpus.Limits{NameBytes: 6}, " has names of more than 6 bytes together, the limit, at …; split it"},
		} {
			like(t, refused(t, corpus.Options{Path: path, Limits: c.l}), path+c.want)
		}
	}
	for _, path := range []string{dir, write(t, "c.tar", pack(t, files...))} {
		open(t, corpus.Options{Path: path, Limits: corpus.Limits{TotalBytes: 13}})
		like(t, refused(t, corpus.Options{Path: path, Limits: corpus.Limits{TotalBytes: 12}}),
			path+" holds more than 12 bytes with all links followed, the limit, at ccc; split it")
	}
}

// The limit on what is spooled holds to the byte.
func TestSpoolLimit(t *testing.T) {
	tarred := pack(t, file{name: "a", body: "A"})
	path := write(t, "c.tgz", gz(tarred))
	open(t, corpus.Options{Path: path, Limits: corpus.Limits{TotalBytes: int64(len(tarred))}})
	like(t, refused(t, corpus.Options{Path: path, Limits: corpus.Limits{TotalBytes: int64(len(tarred)) - 1}}), path+" unpacks to more than 2 KiB, the limit; split it")
}

// A bomb of every kind stops at the limit and leaves nothing.
func TestDecompressionBombs(t *testing.T) {
	bomb := pack(t, file{name: "zeros", body: strings.Repeat("\x00", 2<<20)})
	for base, content := range packings(t, bomb) {
		for _, path := range []string{os.Getenv("PATH"), ""} {
			t.Setenv("PATH", path)
			spool := t.TempDir()
			o := corpus.Options{Path: "-", Stdin: bytes.NewReader(content), Spool: spool, Limits: corpus.Limits{TotalBytes: 1 << 20}}
			like(t, refused(t, o), "standard input unpacks to more than 1 MiB, the limit; split it")
			if left := names(t, spool); len(left) > 0 {
				t.Errorf("%s: left %v", base, left)
			}
		}
	}
}

// A bomb is told by its headers, before what it holds is on the disk. These
// are cut off, so that who unpacks them to the end finds nothing but that.
func TestBombsByTheirClaims(t *testing.T) {
	zeros := make([]byte, 4<<20)
	for _, c := range []struct {
		tarred []byte
		l      corpus.Limits
		want   string
	}{
		{join(huge("zeros", 65<<30), zeros), corpus.Limits{}, ": entry zeros claims 65 GiB, more than the limit of 64 GiB; leave it out"},
		{join(huge("zeros", 60<<30), zeros), corpus.Limits{TotalBytes: 50 << 30}, " unpacks to more than 50 GiB, the limit; split it"},
		{join(header(ustar, "a", '0', 1), block("a"), header(ustar, "b", '0', 2<<20), zeros), corpus.Limits{EntryBytes: 1 << 20},
			": entry b claims 2 MiB, more than the limit of 1 MiB; leave it out"},
		{join(bytes.Repeat(header(ustar, "n", '0', 0), 3000), zeros), corpus.Limits{Entries: 1000}, " has more than 1,000 entries, the limit, at n; split it"},
	} {
		for base, content := range map[string][]byte{"c.tgz": gz(c.tarred), "c.tzst": zst(c.tarred), "c.txz": xzd(c.tarred)} {
			spool := t.TempDir()
			path := write(t, base, content[:len(content)-8])
			like(t, refused(t, corpus.Options{Path: path, Spool: spool, Limits: c.l}), path+c.want)
			if left := names(t, spool); len(left) > 0 {
				t.Errorf("%s: left %v", base, left)
			}
		}
	}
}
