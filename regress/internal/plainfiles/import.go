package plainfiles

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Import makes a golden at path from the export in dir, and replaces the golden there. m describes
// its origin. The export overrides the flags, the selection and the use of an engine in m.
// Everything that an export leaves out stays empty: costs, numbers of runs, and the contents of
// flaky parts and stopped cases.
//
// It returns an error of class Input for foreign files, files in a case's folder that outcome.json
// does not list, contents that do not match it, and a wrong number of cases. It ignores other files
// beside the cases.
func Import(ctx context.Context, dir, path string, m golden.Meta) error {
	root, err := openFolder(dir)
	if err != nil {
		return fault.Inputf("import: %w: name the folder that muster export wrote", err)
	}
	defer root.Close()
	j, err := readGolden(root)
	if err == nil {
		m.FromEngine, m.Selection = j.Engine, golden.Selection{}
		if j.Selection != nil {
			m.Selection = golden.Selection(*j.Selection)
		}
		m.Flags, err = j.flags()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Inputf("import of %s: it is not an export: it has no %s: name the folder that muster export wrote", dir, goldenFile)
	}
	if err != nil {
		return fmt.Errorf("import of %s: %w", dir, withMend(err))
	}
	w, err := golden.Create(path, m)
	if err != nil {
		return err
	}
	cases, err := importCases(ctx, root, w, j)
	if err == nil {
		err = j.checkCount(cases)
	} else {
		err = withMend(err)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("import of %s: %w", dir, err), w.Abort(false))
	}
	return w.Finish()
}

// withMend appends the mend to an error about the content of an export. It is the same for all
// errors.
func withMend(err error) error {
	if regress.ClassOf(err) != regress.Input {
		return err
	}
	return fmt.Errorf("%w: correct that, or export the golden again", err)
}

func readGolden(root *os.Root) (j goldenJSON, err error) {
	b, err := readJSON(root, goldenFile)
	if err != nil {
		return j, fault.Inputf("it is not an export: %w", err)
	}
	if err = checkFormat(b); err == nil {
		err = decode(b, &j)
	}
	if err == nil {
		err = name.ParseIn(&j)
	}
	if err != nil {
		return j, fault.Inputf("%s: %w", goldenFile, err)
	}
	return j, nil
}

// checkCount detects cases that were lost or added since the export.
func (j goldenJSON) checkCount(cases int) error {
	if j.Cases == cases {
		return nil
	}
	return fault.Inputf("%s counts %s, and the export has %s: restore or remove cases, or correct %q there", goldenFile, readable.Cases(j.Cases), readable.Number(cases), "cases")
}

func (j goldenJSON) flags() (map[string]string, error) {
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

// importCases imports the cases below the folder and returns their number. Exactly the folders that
// end in ".case" are cases. If an engine made some of them, any case may be its own, because an
// export does not say which.
func importCases(ctx context.Context, root *os.Root, w *golden.Writer, j goldenJSON) (cases int, err error) {
	err = fs.WalkDir(root.FS(), ".", func(folder string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fault.Environmentf("%w", err)
		case ctx.Err() != nil:
			return ctx.Err()
		case folder == gitFolder && d.IsDir():
			return fs.SkipDir
		case !strings.HasSuffix(d.Name(), caseSuffix):
			return nil
		case !d.IsDir():
			return fault.Inputf("%s is a case and must be a folder", name.Print(folder))
		}
		if err := importCase(ctx, root, folder, w, j); err != nil {
			return fmt.Errorf("%s: %w", name.Print(folder), err)
		}
		cases++
		return fs.SkipDir
	})
	return cases, err
}

func importCase(ctx context.Context, root *os.Root, folder string, w *golden.Writer, j goldenJSON) error {
	from, err := root.OpenRoot(folder)
	if err != nil {
		return fault.Environmentf("%w", err)
	}
	defer from.Close()
	b, err := readJSON(from, outcomeFile)
	if err != nil {
		return fault.Inputf("it has no outcome: %w", err)
	}
	var c caseJSON
	if err := decode(b, &c); err != nil {
		return fault.Inputf("%s: %w", outcomeFile, err)
	}
	r, err := c.record()
	if err != nil {
		return fault.Inputf("%s: %w", outcomeFile, err)
	}
	r.Outcome.ByStatus = j.Engine && outcome.HasTwoReadings(r.Outcome.Ending)
	if expected, err := caseFolder(r.Name); err != nil {
		return err
	} else if expected != folder {
		return fault.Inputf("%s belongs to %s, whose folder is %s", outcomeFile, name.Print(r.Name), expected)
	}
	if err := checkFiles(from, r); err != nil {
		return err
	}
	return putCase(ctx, from, r, w)
}

// putCase stores a case after reading all its contents. It also reads contents that the golden does
// not need, because an edit of them must not be lost silently.
func putCase(ctx context.Context, from *os.Root, r golden.Record, w *golden.Writer) error {
	read := map[outcome.Key]bool{}
	err := w.Put(ctx, r, func(p outcome.Part) (io.ReadCloser, error) {
		read[p.Key] = true
		return openContent(from, p)
	})
	for _, p := range r.Outcome.Parts {
		if err == nil && isExported(&r.Outcome, p) && !read[p.Key] {
			err = checkContent(from, p)
		}
	}
	if errors.Is(err, golden.ErrContent) || errors.Is(err, golden.ErrRecord) {
		return fault.Inputf("%w", err)
	}
	return err
}

func openContent(from *os.Root, p outcome.Part) (*os.File, error) {
	at, err := contentPath(p)
	if err != nil {
		return nil, err
	}
	return openFile(from, at)
}

// checkContent reads the content of a part, up to its size.
func checkContent(from *os.Root, p outcome.Part) error {
	f, err := openContent(from, p)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, p.Size+1))
	if err != nil {
		return fault.Environmentf("%s: %w", name.Print(p.String()), err)
	}
	if n != p.Size || outcome.Digest(h.Sum(nil)) != p.Digest {
		return fmt.Errorf("%s: %w", name.Print(p.String()), golden.ErrContent)
	}
	return nil
}

// checkFiles compares the files in the folder of a case with its outcome. A difference must not be
// lost silently.
func checkFiles(from *os.Root, r golden.Record) error {
	named := []string{outcomeFile}
	for _, p := range r.Outcome.Parts {
		if !isExported(&r.Outcome, p) {
			continue
		}
		at, err := contentPath(p)
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
		err = fault.Inputf("%s that %s names are missing", readable.Count(len(named)-there, "file"), outcomeFile)
	}
	return err
}
