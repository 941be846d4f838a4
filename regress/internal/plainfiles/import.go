package plainfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Import makes the export in dir a golden at path, in place of what is there.
// m says where it comes from; its flags are replaced by those of the export.
// What an export leaves out stays empty: costs, how often a case ran, and the
// contents of flaky parts and of cases that were stopped.
//
// Files that are not an export's, files in a case's folder that its
// outcome.json does not name, and contents that are not what it says, are
// errors of class Input. Other files beside the cases are passed over.
func Import(ctx context.Context, dir, path string, m golden.Meta) error {
	root, err := openFolder(dir)
	if err != nil {
		return fault.Inputf("import: %w", err)
	}
	defer root.Close()
	if m.Flags, err = readFlags(root); err != nil {
		return fmt.Errorf("import of %s: %w", dir, err)
	}
	w, err := golden.Create(path, m)
	if err != nil {
		return err
	}
	if err := importCases(ctx, root, w); err != nil {
		return errors.Join(fmt.Errorf("import of %s: %w", dir, err), w.Abort(false))
	}
	return w.Finish()
}

func readFlags(root *os.Root) (map[string]string, error) {
	b, err := readJSON(root, goldenFile)
	if err != nil {
		return nil, fault.Inputf("no export: %w", err)
	}
	var j goldenJSON
	if err = checkFormat(b); err == nil {
		err = decode(b, &j)
	}
	if err != nil {
		return nil, fault.Inputf("%s: %w", goldenFile, err)
	}
	flags := make(map[string]string, len(j.Flags))
	for k, v := range j.Flags {
		key, err := name.Parse(k)
		if err == nil {
			flags[key], err = name.Parse(v)
		}
		if err != nil {
			return nil, fault.Inputf("%s: %w", goldenFile, err)
		}
	}
	return flags, nil
}

// importCases walks the folder. A folder that ends in ".case" is a case, and
// no other folder is.
func importCases(ctx context.Context, root *os.Root, w *golden.Writer) error {
	return fs.WalkDir(root.FS(), ".", func(folder string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fault.Environmentf("%w", err)
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.IsDir():
			return nil
		case folder == gitFolder:
			return fs.SkipDir
		case !strings.HasSuffix(d.Name(), caseSuffix):
			return nil
		}
		if err := importCase(ctx, root, folder, w); err != nil {
			return fmt.Errorf("%s: %w", name.Print(folder), err)
		}
		return fs.SkipDir
	})
}

func importCase(ctx context.Context, root *os.Root, folder string, w *golden.Writer) error {
	from, err := root.OpenRoot(folder)
	if err != nil {
		return fault.Environmentf("%w", err)
	}
	defer from.Close()
	b, err := readJSON(from, outcomeFile)
	if err != nil {
		return fault.Inputf("no outcome: %w", err)
	}
	var c caseJSON
	if err := decode(b, &c); err != nil {
		return fault.Inputf("%s: %w", outcomeFile, err)
	}
	r, err := c.record()
	if err != nil {
		return fault.Inputf("%s: %w", outcomeFile, err)
	}
	if expected, err := caseFolder(r.Name); err != nil {
		return err
	} else if expected != folder {
		return fault.Inputf("%s is that of %s, which lies in %s", outcomeFile, name.Print(r.Name), expected)
	}
	if err := checkFiles(from, r); err != nil {
		return err
	}
	err = w.Put(ctx, r, func(p outcome.Part) (io.ReadCloser, error) {
		at, err := place(p)
		if err != nil {
			return nil, err
		}
		return openFile(from, at)
	})
	if errors.Is(err, golden.ErrContent) || errors.Is(err, golden.ErrRecord) {
		return fault.Inputf("%w", err)
	}
	return err
}

// checkFiles finds what is in the folder of a case and not named by its
// outcome, or the other way round: it would be lost without a word.
func checkFiles(from *os.Root, r golden.Record) error {
	named := []string{outcomeFile}
	for _, p := range r.Outcome.Parts {
		if !exported(&r.Outcome, p) {
			continue
		}
		at, err := place(p)
		if err != nil {
			return err
		}
		named = append(named, at)
	}
	slices.Sort(named)
	there := 0
	err := fs.WalkDir(from.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, found := slices.BinarySearch(named, at); !found || !d.Type().IsRegular() {
			return fault.Inputf("%s is not a file that %s names", name.Print(at), outcomeFile)
		}
		there++
		return nil
	})
	if err == nil && there != len(slices.Compact(named)) {
		err = fault.Inputf("%d files that %s names are missing", len(named)-there, outcomeFile)
	}
	return err
}
