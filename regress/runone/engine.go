package runone

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// makeKept makes the folder that is to stay, as lanes make it themselves.
func makeKept(keep string) error {
	if err := exec.MakeKept(keep); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(keep, "work"), 0o755)
}

// layOut makes the work folder as the case left it, by the report of an engine. The report cannot
// lead out of the folder.
func layOut(keep string, from *corpus.Corpus, source corpus.Entry, r *exec.Result) (err error) {
	root, err := os.OpenRoot(filepath.Join(keep, "work"))
	if err != nil {
		return fault.Environmentf("--keep: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, e := range slices.Concat(from.Given(), []corpus.Entry{source}) {
		if err := lay(root, e.Name, e.Exec, e.Target(), func() (io.ReadCloser, error) { return from.Open(e) }); err != nil {
			return err
		}
	}
	for _, p := range r.Outcome.Parts {
		if err := layPart(root, r, p); err != nil {
			return err
		}
	}
	return nil
}

func layPart(root *os.Root, r *exec.Result, p outcome.Part) error {
	target := ""
	switch {
	case p.Place != outcome.File:
		return nil
	case p.Form == outcome.Gone:
		return keeping(p.Path, root.RemoveAll(p.Path))
	case p.Form == outcome.Symlink:
		b, err := content.ReadAll(r.Open, p)
		if err != nil {
			return err
		}
		target = string(b)
	}
	return lay(root, p.Path, p.Exec, target, func() (io.ReadCloser, error) { return r.Open(p) })
}

// lay puts a file, or a link if there is a target, at a path, and replaces what is there.
func lay(root *os.Root, at string, executable bool, target string, open func() (io.ReadCloser, error)) error {
	if err := errors.Join(root.RemoveAll(at), root.MkdirAll(path.Dir(at), 0o755)); err != nil {
		return keeping(at, err)
	}
	if target != "" {
		return keeping(at, root.Symlink(target, at))
	}
	from, err := open()
	if err != nil {
		return err
	}
	defer from.Close()
	mode := os.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	to, err := root.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return keeping(at, err)
	}
	_, err = io.Copy(to, from)
	return keeping(at, errors.Join(err, to.Close()))
}

func keeping(at string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Environmentf("--keep: %s: %w", name.Print(at), err)
}
