package corpus_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/corpus"
)

func TestChangedArchive(t *testing.T) {
	for title, c := range map[string]struct {
		do   func(path string) error
		want string
	}{
		"nothing":  {func(string) error { return nil }, ""},
		"longer":   {func(p string) error { return os.Truncate(p, 100_000) }, "… bytes became 100,000"},
		"touched":  {func(p string) error { return os.Chtimes(p, time.Unix(1, 0), time.Unix(1, 0)) }, "it was written to"},
		"replaced": {func(p string) error { return os.Rename(write(t, "new", small(t)), p) }, "another file has its name now"},
		"gone":     {os.Remove, "it is gone"},
	} {
		for base, pack := range map[string]func([]byte) []byte{"c.tar": func(b []byte) []byte { return b }, "c.tgz": gz} {
			path := write(t, base, pack(small(t)))
			corp := open(t, corpus.Options{Path: path})
			if err := c.do(path); err != nil {
				t.Fatal(err)
			}
			checkChanged(t, title, corp.Changed(), path, c.want)
		}
	}
}

func checkChanged(t *testing.T, title string, err error, path, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", title, err)
	case want != "" && regress.ClassOf(err) != regress.Input:
		t.Errorf("%s: class %v: %v", title, regress.ClassOf(err), err)
	case want != "":
		like(t, err.Error(), path+" changed while it ran: "+want+"; run again when nothing writes there")
	}
}

func TestChangedFolder(t *testing.T) {
	for title, c := range map[string]struct {
		do   func(dir string) error
		want string
	}{
		"nothing":       {func(string) error { return nil }, ""},
		"longer":        {func(d string) error { return os.WriteFile(d+"/d/b", []byte("longer"), 0o600) }, "d/b: 1 byte became 6"},
		"touched":       {func(d string) error { return os.Chtimes(d+"/d/b", time.Unix(1, 0), time.Unix(1, 0)) }, "d/b: it was written to"},
		"gone":          {func(d string) error { return os.Remove(d + "/a") }, "a: is gone"},
		"folder gone":   {func(d string) error { return os.RemoveAll(d + "/d") }, "d/b: is gone"},
		"link led away": {func(d string) error { os.Remove(d + "/l"); return os.Symlink("d/bb", d+"/l") }, "l: …"},
		"executable":    {func(d string) error { return os.Chmod(d+"/d/b", 0o700) }, "d/b: its executable bit changed"},
		"readable":      {func(d string) error { return os.Chmod(d+"/d/b", 0o644) }, ""},
		"a new file":    {func(d string) error { return os.WriteFile(d+"/new", nil, 0o600) }, ""},
	} {
		dir := tree(t, map[string]string{"a": "A", "d/b": "B", "l -> d/b": ""})
		corp := open(t, corpus.Options{Path: dir})
		if err := c.do(dir); err != nil {
			t.Fatal(err)
		}
		checkChanged(t, title, corp.Changed(), dir, c.want)
	}
}

// What is read of a corpus that changed is an error, never another content.
func TestReadAfterChange(t *testing.T) {
	archive := write(t, "c.tar", small(t))
	dir := tree(t, map[string]string{"a": "A", "d/b": "B"})
	for title, c := range map[string]struct {
		path string
		do   func() error
	}{
		"archive cut":   {archive, func() error { return os.Truncate(archive, 600) }},
		"file longer":   {dir, func() error { return os.WriteFile(dir+"/a", []byte("AA"), 0o600) }},
		"file cut":      {dir, func() error { return os.Truncate(dir+"/a", 0) }},
		"file gone":     {dir, func() error { return os.Remove(dir + "/a") }},
		"now a folder":  {dir, func() error { os.Remove(dir + "/a"); return os.Mkdir(dir+"/a", 0o700) }},
		"now leads out": {dir, func() error { os.RemoveAll(dir + "/d"); return os.Symlink("/etc", dir+"/d") }},
	} {
		os.WriteFile(archive, small(t), 0o600)
		os.RemoveAll(dir)
		for _, base := range []string{"a", "d/b"} {
			os.MkdirAll(filepath.Dir(filepath.Join(dir, base)), 0o700)
			os.WriteFile(filepath.Join(dir, base), []byte("A"), 0o600)
		}
		corp := open(t, corpus.Options{Path: c.path})
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		_, err := corp.Digests(context.Background())
		if title == "now leads out" {
			if err == nil {
				t.Errorf("%s: read", title)
			}
			continue
		}
		if regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), "changed while it ran") {
			t.Errorf("%s: class %v: %v", title, regress.ClassOf(err), err)
		}
	}
}

// A file that grows between the check of its size and its end is found too.
func TestReadWhileItGrows(t *testing.T) {
	dir := tree(t, map[string]string{"a": "A"})
	c := open(t, corpus.Options{Path: dir})
	r, err := c.Open(c.Cases()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.WriteFile(dir+"/a", []byte("AA"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); regress.ClassOf(err) != regress.Input {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestOpenFolderLink(t *testing.T) {
	c := open(t, corpus.Options{Path: write(t, "c.tar", pack(t, file{name: "d/a", body: "A"}, file{name: "l", link: "d"}))})
	if _, err := c.Open(c.Given()[0]); err == nil {
		t.Error("a link to a folder has content")
	}
}
