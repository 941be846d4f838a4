package closure

import (
	"debug/elf"
	"errors"
	"io/fs"
	"path/filepath"

	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/name"
	"muster/regress/internal/program"
	"muster/regress/lane/observe"
)

// builder makes a closure of uses.
type builder struct {
	c       *Closure
	digests *filedigest.Cache
	leave   func(path string) bool
	known   map[string]bool // files
}

// add adds one path. isWritten says that the tool itself changes the names in this folder.
func (b *builder) add(u *use, isWritten bool) error {
	path := u.Path
	switch {
	case u.Kind&observe.Written != 0 || b.isLeft(path) || b.isLeft(u.Real):
	case u.varies:
		b.c.Varying = append(b.c.Varying, path)
	case u.Form == observe.Absent:
		b.c.Absent = append(b.c.Absent, path)
	case u.Form == observe.File:
		return b.addFile(path, u.Real, u.state, u.Kind&observe.Executed != 0)
	case u.Form == observe.Folder && u.Kind&observe.Listed != 0 && !isWritten:
		names, err := namesIn(path)
		if err != nil {
			return fault.Environmentf("%s, which the tool lists: %w", name.Print(path), fault.Reason(err))
		}
		b.c.Folders = append(b.c.Folders, Folder{path, names})
	}
	return nil
}

func (b *builder) isLeft(path string) bool { return b.leave != nil && path != "" && b.leave(path) }

// addFile adds a file, and the files that the kernel opens to execute it. stamp is the file's stamp
// after the observed runs; "" = unknown.
func (b *builder) addFile(path, real, stamp string, isExecuted bool) error {
	if b.known[path] {
		return nil
	}
	b.known[path] = true
	digest, err := b.digests.Of(real, fileBytesMax)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil // it may be executed, but not read
	case errors.Is(err, filedigest.ErrTooLarge):
		return fault.Inputf("%s, a file of the tool, is too large to compare: leave it out by --no-tool-file", name.Print(path))
	case err != nil:
		return fault.Environmentf("%s, a file of the tool, cannot be read: %w", name.Print(path), fault.Reason(err))
	}
	if stamp != "" && stamp != digest.Stamp {
		b.c.Varying = append(b.c.Varying, path)
		return nil
	}
	b.c.Files = append(b.c.Files, File{path, real, isExecuted, digest.Hash, digest.Stamp})
	if !isExecuted {
		return nil
	}
	return b.addOpenedByKernel(real)
}

// addOpenedByKernel adds the interpreter of a script, or the loader of a program. The kernel opens
// them itself, so no observation has them.
func (b *builder) addOpenedByKernel(executable string) error {
	opener := ""
	if words, err := program.Script(executable); err == nil && len(words) > 0 {
		opener = words[0]
	} else if e, err := elf.Open(executable); err == nil {
		opener, _ = program.Interpreter(e) // a damaged program does not start
		e.Close()
	}
	if !filepath.IsAbs(opener) || b.isLeft(opener) {
		return nil
	}
	real, err := filepath.EvalSymlinks(opener)
	if err != nil {
		return nil // the program could not start
	}
	return b.addFile(opener, real, "", true)
}
