// Package plainfiles writes a golden as a folder of plain files, and reads it back. People can read
// the files with their own tools, and compare goldens. README.md describes the folder.
//
// Two goldens have equal exports exactly if all compared parts of their outcomes are equal, and
// they were recorded with the same flags and selection, both with an engine or both without.
//
// It must not know how a golden is stored.
package plainfiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"muster/internal/realpath"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
)

// Export writes all cases of s below dir. If dir exists and is not empty, it returns an error of
// class Input. After an error, or the end of ctx, the files so far remain.
func Export(ctx context.Context, s *golden.Store, dir string) error {
	if err := prepareFolder(dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault.Environmentf("export: %w", err)
	}
	defer root.Close()
	j := goldenJSON{Format: format, Cases: s.Len(), Engine: s.Meta().OnEngine(), Flags: printed(s.Meta().Flags)}
	if selection := selectionJSON(s.Meta().Selection); !s.Meta().Selection.Everything() {
		j.Selection = &selection
	}
	name.PrintIn(&j)
	b, err := encode(j)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := root.WriteFile(goldenFile, b, 0o644); err != nil {
		return fault.Environmentf("export: %w", err)
	}
	for n := range s.Names() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := exportCase(s, root, n); err != nil {
			return fmt.Errorf("export of %s: %w", name.Print(n), err)
		}
	}
	return nil
}

// prepareFolder makes dir, or checks that it is empty.
func prepareFolder(dir string) error {
	err := checkFolder(dir)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = os.ReadDir(dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at, err := realpath.Of(dir)
		if err != nil {
			return fault.Inputf("export: %w", err)
		}
		if err := os.MkdirAll(at, 0o755); err != nil {
			return fault.Environmentf("export: %w", err)
		}
	case err != nil:
		return fault.Inputf("export: %w: name a new folder", err)
	case len(entries) > 0:
		return fault.Inputf("export: %s is not empty: name a new folder", dir)
	}
	return nil
}

func exportCase(s *golden.Store, root *os.Root, caseName string) error {
	r, _, err := s.Get(caseName)
	if err != nil {
		return err
	}
	folder, err := caseFolder(caseName)
	if err != nil {
		return err
	}
	b, err := encode(describe(r))
	if err != nil {
		return err
	}
	if err := makeFolder(root, folder); err != nil {
		return err
	}
	into, err := root.OpenRoot(folder)
	if err != nil {
		return fault.Environmentf("%w", err)
	}
	defer into.Close()
	if err := into.WriteFile(outcomeFile, b, 0o644); err != nil {
		return fault.Environmentf("%w", err)
	}
	return exportParts(s, into, r)
}

// makeFolder makes a case's folder. The folder can exist already only if the file system takes two
// names for one.
func makeFolder(root *os.Root, folder string) error {
	err := root.MkdirAll(path.Dir(folder), 0o755)
	if err == nil {
		err = root.Mkdir(folder, 0o755)
	}
	if errors.Is(err, fs.ErrExist) {
		return fault.Environmentf("this file system takes two different names for one: %w", err)
	}
	if err != nil {
		return fault.Environmentf("%w", err)
	}
	return nil
}

func exportParts(s *golden.Store, into *os.Root, r golden.Record) error {
	for _, p := range r.Outcome.Parts {
		if !isExported(&r.Outcome, p) {
			continue
		}
		to, err := contentPath(p)
		if err != nil {
			return err
		}
		content, err := s.Content(p)
		if err != nil {
			return err
		}
		err = writeFile(into, to, content)
		content.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a new file. It returns errors of content unchanged.
func writeFile(into *os.Root, to string, content io.Reader) error {
	if err := into.MkdirAll(path.Dir(to), 0o755); err != nil {
		return fault.Environmentf("%w", err)
	}
	f, err := into.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fault.Environmentf("%w", err)
	}
	_, err = io.Copy(f, content)
	return cmp.Or(err, f.Close())
}

func printed(flags map[string]string) map[string]string {
	p := make(map[string]string, len(flags))
	for k, v := range flags {
		p[name.Print(k)] = name.Print(v)
	}
	return p
}
