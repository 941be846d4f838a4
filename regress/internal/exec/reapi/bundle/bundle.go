// Package bundle is what travels with cases to an engine: files and folders of this
// machine, and a command's executable with its shared libraries, laid out so that they
// run where nothing else is.
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

// toolFolder is where all of it lies below the root of an action's input. The work folder
// lies beside it, one level deep, so that nobody who lists that finds the tool there.
const toolFolder = "tool"

// above leads from the work folder to the root.
const above = "../"

// Within it: executables, one that has the name of another, libraries with the loader, and
// inputs by their own names.
const (
	binFolder   = toolFolder + "/bin"
	otherFolder = binFolder + "/other"
	libFolder   = toolFolder + "/lib"
	inputFolder = toolFolder + "/in"
)

// What one run may send along.
const (
	filesMax = tree.FilesMax
	bytesMax = 8 << 30
)

// Options say what is to travel. Command must be set; all else may be left out.
type Options struct {
	Inputs  []string      // files and folders of this machine, as the user wrote them
	Exclude []string      // files and folders that stay here when they lie in those
	Command *exec.Command // resolved
	Bundle  bool          // the command's executable travels with its libraries
	Library []string      // folders where they are looked for first, as in LD_LIBRARY_PATH
	Cache   string        // a file that remembers digests; "" = none
	Note    func(string)  // hears once what does not travel; may be nil
}

// item is a file that travels, or a link.
type item struct {
	path   string // below the root of the input
	source string // absolute, on this machine
	target string // not empty: a link
	exec   bool
	digest blob.Digest // of a file
}

// Bundle is what travels, read and laid out. It is not changed after Make, so any number
// of goroutines may use it.
type Bundle struct {
	items   []item
	empty   []string // folders that hold nothing
	moves   []move
	calls   []string // how the command's executable is called here
	start   []string // what takes the place of the zeroth argument; nil = it is given as is
	shell   []string // what starts a shell
	follows string   // the program after the zeroth argument, if start ends in an option that takes that; else ""
	locale  bool     // the data of the usual locale travel
}

// making is a Bundle in the making.
type making struct {
	*Bundle
	o       Options
	digests *filedigest.Cache
	loader  string            // of the executables laid out so far, absolute
	libs    map[string]string // name in libFolder → source
	said    map[string]bool
	stays   map[string]bool // real paths of Options.Exclude
}

// Make reads all that is to travel. Its errors are of class Input where the user has to
// ask for something else, or where a file changes meanwhile, and name what; a file that cannot
// be read is of class Environment.
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
	if err := m.command(); err != nil {
		return nil, err
	}
	if err := m.read(ctx); err != nil {
		return nil, err
	}
	m.digests.Save()
	return m.Bundle, nil
}

// read makes the digests of all files.
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
			return fault.Inputf("what travels with the command is more than %s, the limit, at %s; send less by --remote-input", readable.Size(bytesMax), name.Print(f.source))
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

// realPath is absolute and without links, but for one that the file may be itself.
func realPath(file string) (string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	return filepath.Join(dir, filepath.Base(file)), err
}

// unreadable is why a file or folder does not travel.
func unreadable(path string, err error) error {
	switch {
	case regress.ClassOf(err) == regress.Input:
		return err // it is worded
	case errors.Is(err, fs.ErrNotExist):
		return fault.Inputf("%s went away while it was read; run again when nothing writes there", name.Print(path))
	case errors.Is(err, fs.ErrPermission):
		return fault.Environmentf("%s cannot be sent along: %w; give yourself the right to read it, or leave it out", name.Print(path), fault.Reason(err))
	}
	return fault.Environmentf("%s cannot be sent along: %w", name.Print(path), fault.Reason(err))
}

// Place puts all of it into the root of an action's input.
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

// Blobs yields the contents, each once. To read one is an error of those classes where its file
// is no longer what it was.
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

// add notes a file, and refuses what is too much.
func (m *making) add(f item) error {
	if len(m.items) >= filesMax {
		return fault.Inputf("more than %s files travel with the command, the limit, at %s; send less by --remote-input", readable.Number(filesMax), name.Print(f.source))
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
