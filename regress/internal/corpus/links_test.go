package corpus_test

import (
	"archive/tar"
	"fmt"
	"strings"
	"testing"

	"muster/regress/internal/corpus"
)

func TestLinks(t *testing.T) {
	a, hard := file{name: "d/a", body: "A", exec: true}, byte(tar.TypeLink)
	for title, c := range map[string]struct {
		files []file
		want  string
	}{
		"hard link":                           {[]file{a, {name: "h", link: "./d/a", typ: hard}}, lines("case d/a x = A", "case h x = A")},
		"hard link to what is replaced later": {[]file{a, {name: "h", link: "d/a", typ: hard}, {name: "d/a", body: "B"}}, lines("case h x = A", "case d/a = B")},
		"hard link of a hard link":            {[]file{a, {name: "h", link: "d/a", typ: hard}, {name: "i", link: "h", typ: hard}}, lines("case d/a x = A", "case h x = A", "case i x = A")},
		"hard link to itself":                 {[]file{a, {name: "d/a", link: "d/a", typ: hard}}, lines("case d/a x = A")},
		"hard link to a symlink":              {[]file{a, {name: "d/l", link: "a"}, {name: "d/h", link: "d/l", typ: hard}}, lines("case d/a x = A", "case d/l x = A", "case d/h x = A")},
		"symlink":                             {[]file{{name: "d/l", link: "a"}, a}, lines("case d/l x = A", "case d/a x = A")},
		"symlink chain":                       {[]file{{name: "l1", link: "e/l2"}, {name: "e/l2", link: "../d//./a"}, a}, lines("case l1 x = A", "case e/l2 x = A", "case d/a x = A")},
		"symlink through a link to a folder":  {[]file{a, {name: "f", link: "d"}, {name: "l", link: "f/a"}}, lines("case d/a x = A", "case l x = A", "given f -> d")},
		"the parent of a linked folder":       {[]file{{name: "x/y/z/q", body: "q"}, {name: "x/a", body: "A"}, {name: "f", link: "x/y/z"}, {name: "l", link: "f/../../a"}}, lines("case x/y/z/q = q", "case x/a = A", "case l = A", "given f -> x/y/z")},
		"link to a folder, made straight":     {[]file{a, {name: "e/f", link: "g"}, {name: "e/g", link: "../d/."}, {name: "d/up", link: ".."}, {name: "self", link: "./"}}, lines("case d/a x = A", "given e/f -> ../d", "given e/g -> ../d", "given d/up -> ..", "given self -> .")},
		"link to an empty folder":             {[]file{{name: "e/", typ: tar.TypeDir}, {name: "l", link: "e"}}, lines("given l -> e")},
		"a header by a link":                  {[]file{a, {name: "HDR_l", link: "d/a"}}, lines("case d/a x = A", "given HDR_l x = A")},
		"a folder called like a header":       {[]file{a, {name: "HDR_d", link: "d"}}, lines("case d/a x = A", "given HDR_d -> d")},
		"links to nothing":                    {[]file{a, {name: "l", link: "x"}, {name: "m", link: "d/a/"}, {name: "n", link: "d/a/x"}, {name: "o", link: "d/a/.."}, {name: "p", link: "l"}}, lines("case d/a x = A")},
		"a link over a file":                  {[]file{a, {name: "b", body: "B"}, {name: "b", link: "d/a"}}, lines("case d/a x = A", "case b x = A")},
		"40 links":                            {append(chain(40), a), strings.Repeat("case ? x = A\n", 41)},
	} {
		t.Run(title, func(t *testing.T) {
			got := describe(t, open(t, corpus.Options{Path: write(t, "c.tar", pack(t, c.files...))}))
			if title == "40 links" {
				for i := range 40 {
					got = strings.Replace(got, fmt.Sprintf("case l%d x", i), "case ? x", 1)
				}
				got = strings.Replace(got, "case d/a x", "case ? x", 1)
			}
			if got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// chain returns n links, the last of which leads to d/a.
func chain(n int) []file {
	var files []file
	for i := range n - 1 {
		files = append(files, file{name: fmt.Sprintf("l%d", i), link: fmt.Sprintf("l%d", i+1)})
	}
	return append(files, file{name: fmt.Sprintf("l%d", n-1), link: "d/a"})
}
