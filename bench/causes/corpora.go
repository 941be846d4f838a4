package main

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A source is a case: a file, or a text outside any file.
type source struct {
	name, path string
	text       string
}

// below finds the files with an extension in a folder, or in some of its folders, ordered by their
// names below the folder.
func below(folder, extension string, parts ...string) (all []source, err error) {
	if len(parts) == 0 {
		parts = []string{""}
	}
	for _, part := range parts {
		err := filepath.WalkDir(filepath.Join(folder, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != extension {
				return err
			}
			name, err := filepath.Rel(folder, path)
			all = append(all, source{name: filepath.ToSlash(name), path: path})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fence begins and ends an example of the specification of CommonMark.
const fence = "````````````````````````````````"

// examples extracts the sources of the examples from the specification. It writes a tab as an
// arrow, and a line with a dot separates a source from its output.
func examples(text string) (all []source) {
	for _, part := range strings.Split(text, fence+" example\n")[1:] {
		from, _, _ := strings.Cut(part, "\n.\n")
		all = append(all, source{name: fmt.Sprintf("spec/%03d.md", len(all)+1), text: strings.ReplaceAll(from, "→", "\t") + "\n"})
	}
	return all
}

// pack writes sources into a tar.
func pack(archive string, sources []source) (err error) {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	w := tar.NewWriter(f)
	for _, s := range sources {
		text := []byte(s.text)
		if s.path != "" {
			if text, err = os.ReadFile(s.path); err != nil {
				return err
			}
		}
		if err := w.WriteHeader(&tar.Header{Name: s.name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}
