package main_test

import (
	"archive/tar"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// mktar packs entries in the given order: NAME is an existing file, NAME=TEXT a file with that
// text, NAME->TARGET a symbolic link, NAME=>TARGET a hard link. \n and \xff stand for those
// bytes.
func mktar(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: mktar file entry...")
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	w := tar.NewWriter(f)
	for _, entry := range args[1:] {
		entry, err := strconv.Unquote(`"` + strings.ReplaceAll(entry, `"`, `\"`) + `"`)
		ts.Check(err)
		h := tar.Header{Name: entry, Mode: 0o644}
		var text string
		if name, target, ok := strings.Cut(entry, "->"); ok {
			h.Typeflag, h.Name, h.Linkname = tar.TypeSymlink, name, target
		} else if name, target, ok := strings.Cut(entry, "=>"); ok {
			h.Typeflag, h.Name, h.Linkname = tar.TypeLink, name, target
		} else if h.Name, text, ok = strings.Cut(entry, "="); !ok {
			text = ts.ReadFile(entry)
		}
		h.Size = int64(len(text))
		ts.Check(w.WriteHeader(&h))
		_, err = w.Write([]byte(text))
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(f.Close())
}
