package propose

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// folderWith makes a folder with empty files.
func folderWith(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func numbered(before, after string, n int) (names []string) {
	for i := range n {
		names = append(names, before+strconv.Itoa(i)+after)
	}
	return names
}

func TestLook(t *testing.T) {
	sources, notes := numbered("src/", ".c", 4), numbered("notes/deep/er/", ".md", 3)
	src := Corpus{Path: "src", Extension: ".c", Cases: 4}
	mixed := Corpus{Path: "src", Extension: ".c", Cases: 4, Mixed: true}
	mixedSmall := Corpus{Path: "src", Extension: ".c", Cases: 3, Mixed: true}
	for name, c := range map[string]struct {
		files   []string
		corpora []Corpus
		headers []string
	}{
		"nothing":             {nil, nil, nil},
		"too few":             {numbered("src/", ".c", 2), nil, nil},
		"a folder":            {sources, []Corpus{src}, nil},
		"two folders":         {append(notes, sources...), []Corpus{src, {Path: "notes", Extension: ".md", Cases: 3}}, nil},
		"an archive":          {append([]string{"all.tar.zst"}, sources...), []Corpus{{Path: "all.tar.zst"}, src}, nil},
		"archives":            {[]string{"b.tgz", "a.tar", "c.zip"}, []Corpus{{Path: "a.tar"}, {Path: "b.tgz"}}, nil},
		"headers":             {append([]string{"src/x.h", "src/deep/y.hpp"}, sources...), []Corpus{src}, []string{"*.h", "*.hpp"}},
		"headers by name":     {append([]string{"src/HDR_x"}, sources...), []Corpus{src}, nil},
		"headers of any kind": {append([]string{"src/HDR_x", "src/x.h"}, sources...), []Corpus{src}, []string{"*.h", "HDR_*"}},
		"headers elsewhere":   {append([]string{"include/x.h"}, sources...), []Corpus{src}, nil},
		"only headers":        {numbered("include/", ".h", 5), nil, nil},
		"other files":         {append([]string{"src/README"}, sources...), []Corpus{mixed}, nil},
		"here":                {numbered("", ".c", 3), []Corpus{{Path: ".", Extension: ".c", Cases: 3, Mixed: true}}, nil},
		"standard input":      {numbered("-/", ".c", 3), nil, nil},
		"no glob":             {append(numbered("src/", ".[c", 5), numbered("src/", ".c", 3)...), []Corpus{mixedSmall}, nil},
		"hidden and foreign":  {append(numbered(".git/", ".c", 5), numbered("node_modules/", ".js", 5)...), nil, nil},
		"hostile names":       {append(numbered("bad\nname = 1\n/", ".c", 5), "x\x1b.tar", "\xff.tar"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Look(folderWith(t, c.files...))
			if err != nil || !slices.Equal(p.Corpora, c.corpora) || !slices.Equal(p.Headers, c.headers) {
				t.Errorf("%+v, %v\nwant %+v, %v", p, err, c.corpora, c.headers)
			}
		})
	}
	if _, err := Look(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that does not exist has a proposal")
	}
}

// A look that ends early does not say that it has counted all.
func TestLookEndsEarly(t *testing.T) {
	dir := folderWith(t, numbered("src/", ".c", 5)...)
	for room, want := range map[int]string{5: "a folder with at least 4 *.c files", 6: "a folder with 5 *.c files"} {
		p, err := lookAt(dir, room)
		if err != nil || len(p.Corpora) != 1 || p.Corpora[0].String() != want {
			t.Errorf("%d entries: %v, %v; want %s", room, p.Corpora, err, want)
		}
	}
}
