package corpus_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/corpus"
)

// The same tree, however it is packed, is the same corpus.
func TestContainerDoesNotMatter(t *testing.T) {
	base := t.TempDir()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		dir := filepath.Join(base, fmt.Sprint(round))
		files := drawTree(rt)
		plant(rt, filepath.Join(dir, "tree"), files)
		o := corpus.Options{Path: filepath.Join(dir, "tree"), Spool: filepath.Join(dir, "spool")}
		o.Headers = rapid.SampledFrom([][]string{nil, {}, {"*.h"}, {"d/**"}}).Draw(rt, "headers")
		o.Context = rapid.SampledFrom([][]string{nil, {"**"}, {"*b*"}}).Draw(rt, "context")
		want, wantDigest := summary(rt, o)
		for title, content := range packed(rt, files) {
			o.Path = filepath.Join(dir, title)
			if err := os.WriteFile(o.Path, content, 0o600); err != nil {
				rt.Fatalf("%v", err)
			}
			got, gotDigest := summary(rt, o)
			if got != want {
				rt.Fatalf("%s gives\n%s\nthe folder\n%s", title, got, want)
			}
			if gotDigest != wantDigest {
				rt.Fatalf("%s: the digest differs from the folder's:\n%s", title, got)
			}
		}
		os.RemoveAll(dir)
	})
}

func summary(rt *rapid.T, o corpus.Options) (text, sum string) {
	c, err := corpus.Open(context.Background(), o)
	if err != nil {
		rt.Fatalf("%s: %v", o.Path, err)
	}
	defer c.Close()
	d, err := c.Digests(context.Background())
	if err != nil {
		rt.Fatalf("%s: digest: %v", o.Path, err)
	}
	return describe(rt, c), d.Whole.String()
}

// drawTree returns files and links, sorted by name, that are a valid corpus.
func drawTree(rt *rapid.T) []file {
	dirs := []string{"", "d/", "d/e/", "HDR_d/", "sp ace/", "\xff/", strings.Repeat("long/", 25)}
	bases := []string{"a", "b.h", "HDR_x", "HDR_\xfe.h", "new\nline", "%41", "é", "-", "..a", strings.Repeat("n", 120), strings.Repeat("\xf0", 255)}
	all := map[string]file{}
	for range rapid.IntRange(0, 12).Draw(rt, "files") {
		n := rapid.SampledFrom(dirs).Draw(rt, "dir") + rapid.SampledFrom(bases).Draw(rt, "base")
		size := rapid.SampledFrom([]int{0, 1, 511, 512, 513, 4096, 10_000}).Draw(rt, "size")
		all[n] = file{name: n, body: strings.Repeat(rapid.StringN(1, 3, 4).Draw(rt, "body"), size)[:size], exec: rapid.Bool().Draw(rt, "exec")}
	}
	for i := range rapid.IntRange(0, 5).Draw(rt, "links") {
		n := rapid.SampledFrom(dirs).Draw(rt, "link dir") + fmt.Sprintf("%sl%d", rapid.SampledFrom([]string{"", "HDR_"}).Draw(rt, "link base"), i)
		all[n] = file{name: n, link: drawTarget(rt, n, dirs, bases)}
	}
	var files []file
	for _, f := range all {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files
}

// drawTarget leads anywhere in the tree, to earlier links and to nothing too,
// but not outside.
func drawTarget(rt *rapid.T, link string, dirs, bases []string) string {
	up := strings.Repeat("../", strings.Count(link, "/"))
	if up == "" {
		up = "./"
	}
	to := strings.TrimSuffix(rapid.SampledFrom(dirs).Draw(rt, "to dir"), "/")
	if rapid.Bool().Draw(rt, "to file") {
		to = path.Join(to, rapid.SampledFrom(append(bases, "l0", "HDR_l1")).Draw(rt, "to base"))
	}
	if to == link { // alone it would be a loop
		to = "."
	}
	return up + to
}

func plant(rt *rapid.T, dir string, files []file) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		rt.Fatalf("%v", err)
	}
	for _, f := range files {
		at := filepath.Join(dir, f.name)
		mode := os.FileMode(0o600)
		if f.exec {
			mode = 0o700
		}
		err := os.MkdirAll(filepath.Dir(at), 0o700)
		if err == nil && f.link != "" {
			err = os.Symlink(f.link, at)
		} else if err == nil {
			err = os.WriteFile(at, []byte(f.body), mode)
		}
		if err != nil {
			rt.Fatalf("%v", err)
		}
	}
}

// packed returns the files as every kind of archive that can hold them.
func packed(rt *rapid.T, files []file) map[string][]byte {
	all := map[string][]byte{}
	for title, format := range map[string]tar.Format{"pax.tar": tar.FormatPAX, "gnu.tar": tar.FormatGNU, "ustar.tar": tar.FormatUSTAR, "mixed.tar": tar.FormatUnknown} {
		formatted := slices.Clone(files)
		for i := range formatted {
			formatted[i].format = format
			formatted[i].name = rapid.SampledFrom([]string{"", "./", ".//"}).Draw(rt, "prefix") + formatted[i].name
		}
		b, err := tryPack(formatted...)
		if err != nil && format != tar.FormatUSTAR { // which has not room for every name
			rt.Fatalf("%s: %v", title, err)
		}
		if err == nil {
			all[title] = b
		}
	}
	mixed := all["mixed.tar"]
	half := len(mixed) / 2
	all["c.tar.gz"], all["c.tar.zst"], all["c.tar.xz"] = gz(mixed), zst(mixed), xzd(mixed)
	all["two.tar.gz"] = join(gz(mixed[:half]), gz(mixed[half:]))
	all["open.tar"] = bytes.TrimSuffix(mixed, endMarker)
	if len(all["open.tar"]) == 0 {
		delete(all, "open.tar")
	}
	return all
}

// The order in an archive is the corpus's order, and not part of the digest.
func TestOrderIsNotInTheDigest(t *testing.T) {
	files := []file{{name: "b", body: "B"}, {name: "a", body: "A"}, {name: "HDR_c", body: "C"}, {name: "d/e", body: "E"}, {name: "f", link: "d"}}
	first := digest(t, open(t, corpus.Options{Path: write(t, "c.tar", pack(t, files...))}))
	slices.Reverse(files)
	if got := digest(t, open(t, corpus.Options{Path: write(t, "c.tar", pack(t, files...))})); got != first {
		t.Error("the digest depends on the order")
	}
}

// Whatever a case can see is in the digest.
func TestDigestTells(t *testing.T) {
	base := []file{{name: "a", body: "A"}, {name: "bc", body: "B"}, {name: "d/e", body: "E"}, {name: "l", link: "d"}}
	with := func(i int, change func(*file)) []byte {
		files := slices.Clone(base)
		change(&files[i])
		return pack(t, files...)
	}
	seen := map[string]string{}
	for title, o := range map[string]struct {
		tar []byte
		o   corpus.Options
	}{
		"base":      {pack(t, base...), corpus.Options{}},
		"name":      {with(0, func(f *file) { f.name = "x" }), corpus.Options{}},
		"content":   {with(0, func(f *file) { f.body = "X" }), corpus.Options{}},
		"size":      {with(0, func(f *file) { f.body = "AA" }), corpus.Options{}},
		"mode":      {with(0, func(f *file) { f.exec = true }), corpus.Options{}},
		"target":    {with(3, func(f *file) { f.link = "." }), corpus.Options{}},
		"less":      {pack(t, base[1:]...), corpus.Options{}},
		"shifted":   {with(0, func(f *file) { f.name, f.body = "ab", "" }), corpus.Options{}},
		"a header":  {pack(t, base...), corpus.Options{Headers: []string{"a"}}},
		"a context": {pack(t, base...), corpus.Options{Context: []string{"a"}}},
		"nothing":   {endMarker, corpus.Options{}},
	} {
		o.o.Path = write(t, "c.tar", o.tar)
		sum := digest(t, open(t, o.o))
		if other, ok := seen[sum]; ok {
			t.Errorf("%s has the digest of %s", title, other)
		}
		seen[sum] = title
	}
	// Version 1 of the digest is in goldens: it must never change by accident.
	const v1 = "71d5a47ccd5a9d1e865aa4af76a0a243aa45e77a884f9891dad2b551ca1c9a6d"
	if got := digest(t, open(t, corpus.Options{Path: write(t, "c.tar", pack(t, base...))})); got != v1 {
		t.Errorf("the digest of version 1 is now %s, was %s", got, v1)
	}
}
