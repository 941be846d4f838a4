package corpus_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/regress/internal/corpus"
)

// tree makes a folder from "name" → content, "name/" → folder, and
// "name -> target" → link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for key, body := range files {
		link, target, isLink := strings.Cut(key, " -> ")
		path := filepath.Join(dir, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(key, "/"):
			err = os.MkdirAll(path, 0o700)
		default:
			err = os.WriteFile(path, []byte(body), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFolder(t *testing.T) {
	dir := tree(t, map[string]string{
		"b.c": "b", "a/z.c": "z", "a-b.c": "-", "a/HDR_x.h": "x", "empty/": "", "e": "",
		"s p\n\xff": "odd", ".git/config": "no", "sub/.git": "no", "sub/.muster/state": "no", "my.golden": "no", "state/run": "no", "kept.golden": "yes",
		"l -> a/z.c": "", "a/up -> ../b.c": "", "f -> a": "", "a/dot -> .": "", "gone -> nowhere": "", "into -> .git/config": "", "through -> f/z.c": "",
	})
	if err := os.Chmod(filepath.Join(dir, "b.c"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var said []string
	c := open(t, corpus.Options{Path: ".", Exclude: []string{"my.golden", filepath.Join(dir, "state"), "../elsewhere", ".", "/"}, Note: func(s string) { said = append(said, s) }})
	want := lines("case a-b.c = -", "case a/up x = b", "case a/z.c = z", "case b.c x = b", "case e = ", "case kept.golden = yes", "case l = z", "case s p%0A%FF = odd", "case through = z",
		"given a/HDR_x.h = x", "given a/dot -> .", "given f -> a")
	if got := describe(t, c); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if c.File() != nil || c.Root() != dir {
		t.Errorf("File %v, Root %q, want %q", c.File(), c.Root(), dir)
	}
	if got := strings.Join(said, "\n"); got != ".: links to nothing are left out: 2 (gone, into)" {
		t.Errorf("said %s", got)
	}
	for _, e := range c.Cases() { // Path alone must lead to the content: a lane opens it without following links
		info, err := os.Lstat(filepath.Join(dir, e.Path))
		if err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: Path %s: %v, %v", e.Name, e.Path, info, err)
		}
	}
}

// The golden may be named by another way to the same folder.
func TestExcludeThroughLink(t *testing.T) {
	dir := tree(t, map[string]string{"real/a": "a", "real/x.golden": "no", "way -> real": ""})
	for _, path := range []string{"real", "way"} {
		for _, exclude := range []string{"real/x.golden", "way/x.golden"} {
			c := open(t, corpus.Options{Path: filepath.Join(dir, path), Exclude: []string{filepath.Join(dir, exclude)}})
			if got := describe(t, c); got != "case a = a\n" {
				t.Errorf("%s without %s: %s", path, exclude, got)
			}
		}
	}
}

func TestFolderLeadsOutside(t *testing.T) {
	for link, want := range map[string]string{
		"l -> ../x":         ": entry l, a link to ../x, leads outside the corpus; …",
		"d/l -> ../../x":    ": entry d/l, a link to ../../x, leads outside the corpus; …",
		"l -> /etc/passwd":  ": entry l, a link to /etc/passwd, leads outside the corpus; …",
		"l -> .":            "",
		"d/loop -> loop":    ": entry d/loop, a link to loop, goes round in a loop, …",
		"d/l -> missing/..": "",
	} {
		dir := tree(t, map[string]string{"a": "A", link: ""})
		if want == "" {
			open(t, corpus.Options{Path: dir})
			continue
		}
		like(t, refused(t, corpus.Options{Path: dir}), dir+want)
	}
}

func TestFolderSpecialFiles(t *testing.T) {
	dir := tree(t, map[string]string{"a": "A"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // a socket's path is short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var said []string
	c := open(t, corpus.Options{Path: dir, Note: func(s string) { said = append(said, s) }})
	if got := describe(t, c); got != "case a = A\n" {
		t.Error(got)
	}
	if len(said) != 1 || !strings.Contains(said[0], "sockets, pipes and devices are left out: 2 (") {
		t.Errorf("said %q", said)
	}
}

// Folders deeper than there are file descriptors, and wider than one read.
func TestFolderDeepAndWide(t *testing.T) {
	dir := t.TempDir()
	deep := strings.Repeat("d/", 600)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(deep+"x", []byte("deep"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		if err := root.WriteFile("w"+string(rune('a'+i%26))+strings.Repeat("w", i/26), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := open(t, corpus.Options{Path: dir})
	if len(c.Cases()) != 3001 || content(t, c, c.Cases()[0]) != "deep" {
		t.Errorf("%d cases", len(c.Cases()))
	}
}
