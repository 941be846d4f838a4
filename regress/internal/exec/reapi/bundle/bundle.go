// Package bundle collects what travels with cases to an engine: files and folders of this
// machine, and a command's executable with its shared libraries. They are laid out so that they
// run on a worker that has nothing else.
//
// It must not run what it sends, nor know of cases or RPCs.
package bundle

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/name"
)

// toolFolder holds the bundle below the root of an action's input. It lies beside the work
// folder, not in it, so that a tool that lists the work folder does not find it there.
const toolFolder = "tool"

// above is the path from the work folder to the root.
const above = "../"

// Folders of the bundle: for executables, for one with the name of another, for libraries with
// the loader, and for inputs by their own names.
const (
	binFolder   = toolFolder + "/bin"
	otherFolder = binFolder + "/other"
	libFolder   = toolFolder + "/lib"
	inputFolder = toolFolder + "/in"
)

// Bounds of what one run may send.
const (
	filesMax = tree.FilesMax
	bytesMax = 8 << 30
)

// Options describe what travels. Command is required.
type Options struct {
	Inputs  []string      // files and folders on this machine, as the user wrote them
	Exclude []string      // files and folders within Inputs that do not travel
	Command *exec.Command // resolved path
	Bundle  bool          // whether the command's executable travels with its libraries
	Library []string      // folders that the loader searches first, as in LD_LIBRARY_PATH
	Cache   string        // file that caches digests; "" = none
	Note    func(string)  // receives once what does not travel; may be nil
}

// item is a file or link that travels.
type item struct {
	path   string // below the root of the input
	source string // absolute, on this machine
	target string // for a link; else empty
	exec   bool
	digest blob.Digest // of a file
}

// Bundle is everything that travels, read and laid out. It does not change after Make, so any
// number of goroutines may use it.
type Bundle struct {
	items   []item
	empty   []string // empty folders
	moves   []move
	calls   []string // name of the command's executable on this machine
	start   []string // replaces the zeroth argument; nil = the argument stays
	shell   []string // starts a shell
	follows string   // the program after the zeroth argument, if start ends in an option for that argument; else ""
	locale  bool     // the data of the usual locale travel
}

// making is a Bundle during Make.
type making struct {
	*Bundle
	o       Options
	digests *filedigest.Cache
	loader  string            // absolute paths of the executables that are laid out
	libs    map[string]string // name in libFolder → source
	said    map[string]bool
	stays   map[string]bool // real paths of Options.Exclude
}

// Make reads everything that travels. Its errors name the file. They are of class Input if the
// user must ask for something else or a file changes meanwhile. They are of class Environment
// if a file cannot be read.
func Make(ctx context.Context, o Options) (*Bundle, error) {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	m := &making{Bundle: &Bundle{}, o: o, digests: filedigest.Open(o.Cache), libs: map[string]string{}, said: map[string]bool{}, stays: map[string]bool{}}
	for _, file := range o.Exclude {
		if real, err := realPath(file); err == nil {
			m.stays[real] = true
		}
	}
	for _, input := range o.Inputs {
		if err := m.input(ctx, input); err != nil {
			return nil, err
		}
	}
	if err := m.command(ctx); err != nil {
		return nil, err
	}
	if err := m.read(ctx); err != nil {
		return nil, err
	}
	m.digests.Save()
	return m.Bundle, nil
}

// read computes the digests of all files.
func (m *making) read(ctx context.Context) error {
	room := int64(bytesMax)
	for i := range m.items {
		f := &m.items[i]
		if f.target != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fault.Interruptedf("%w", err)
		}
		sum, err := m.digests.Of(f.source, room)
		switch {
		case errors.Is(err, filedigest.ErrTooLarge):
			return fault.Inputf("what travels with the command is more than %s, the limit, at %s; send less by the key input of [engine]", readable.Size(bytesMax), name.Print(f.source))
		case errors.Is(err, filedigest.ErrNoFile):
			return changed(f.source)
		case err != nil:
			return unreadable(f.source, err)
		}
		f.digest = blob.Digest{Hash: sum.Hash, Size: sum.Size}
		room -= sum.Size
	}
	return nil
}

// realPath returns the absolute path without links, but keeps the last element if the file is a
// link itself.
func realPath(file string) (string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	return filepath.Join(dir, filepath.Base(file)), err
}

// unreadable returns the error for a file or folder that does not travel.
func unreadable(path string, err error) error {
	switch {
	case regress.ClassOf(err) == regress.Input:
		return err // has its text already
	case errors.Is(err, fs.ErrNotExist):
		return fault.Inputf("%s went away while it was read; run again when nothing writes there", name.Print(path))
	case errors.Is(err, fs.ErrPermission):
		return fault.Environmentf("%s cannot be sent along: %w; give yourself the right to read it, or leave it out", name.Print(path), fault.Reason(err))
	}
	return fault.Environmentf("%s cannot be sent along: %w", name.Print(path), fault.Reason(err))
}

// Place adds the whole bundle to the root of an action's input.
func (b *Bundle) Place(d *tree.Builder) error {
	for _, f := range b.items {
		var err error
		if f.target != "" {
			err = d.Link(f.path, f.target)
		} else {
			err = d.File(f.path, tree.File{Digest: f.digest, Exec: f.exec})
		}
		if err != nil {
			return fault.Inputf("%s cannot be sent along: %w", name.Print(f.source), err)
		}
	}
	for _, at := range b.empty {
		if err := d.Folder(at); err != nil {
			return fault.Inputf("what travels with the command: %w", err)
		}
	}
	return nil
}

// Blobs yields each content once. Reading one fails, with an error as in Make, if its file has
// changed.
func (b *Bundle) Blobs(yield func(blob.Blob) bool) {
	seen := map[blob.Digest]bool{}
	for _, f := range b.items {
		if f.target != "" || seen[f.digest] {
			continue
		}
		seen[f.digest] = true
		if !yield(blob.Blob{Digest: f.digest, Open: func() (io.ReadCloser, error) { return content(f.source, f.digest) }}) {
			return
		}
	}
}

// add adds a file, and refuses more than the bounds.
func (m *making) add(f item) error {
	if len(m.items) >= filesMax {
		return fault.Inputf("more than %s files travel with the command, the limit, at %s; send less by the key input of [engine]", readable.Number(filesMax), name.Print(f.source))
	}
	m.items = append(m.items, f)
	return nil
}

func (m *making) note(text string) {
	if !m.said[text] {
		m.said[text] = true
		m.o.Note(text)
	}
}
