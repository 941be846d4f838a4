// Package bundle is what travels with cases to an engine: files and folders of this
// machine, and a command's executable with its shared libraries, laid out so that they
// run where nothing else is.
//
// It must not run what it sends, nor know of cases or RPCs.
package bundle

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// Folder is where all of it lies below the root of an action's input. The work folder
// lies beside it, one level deep, so that nobody who lists that finds the tool there.
const Folder = "tool"

// above leads from the work folder to the root.
const above = "../"

// Within Folder: executables, libraries with the loader, and inputs by their own names.
const (
	binFolder   = Folder + "/bin"
	libFolder   = Folder + "/lib"
	inputFolder = Folder + "/in"
)

// Limits bound what one run may send along. Zero fields take the defaults.
type Limits struct {
	Files int   // 100,000
	Bytes int64 // 8 GiB
}

// Options say what is to travel. Command must be set; all else may be left out.
type Options struct {
	Inputs  []string      // files and folders of this machine, as the user wrote them
	Exclude []string      // files and folders that stay here when they lie in those
	Command *exec.Command // resolved
	Bundle  bool          // the command's executable travels with its libraries
	Library []string      // folders where they are looked for first, as in LD_LIBRARY_PATH
	Cache   string        // a file that remembers digests; "" = none
	Limits  Limits
	Note    func(string) // hears once what does not travel; may be nil
}

// File is one that travels, or a link.
type File struct {
	Path   string // below the root of the input
	Source string // absolute, on this machine
	Target string // not empty: a link
	Exec   bool
	Digest blob.Digest // of a file
}

// Bundle is what travels, read and laid out. It is not changed after Make, so any number
// of goroutines may use it.
type Bundle struct {
	files   []File
	folders []string // that hold nothing
	moves   []move
	start   []string // what takes the place of the zeroth argument; nil = it is given as is
	shell   []string // what starts a shell
	argv0   bool     // start ends in an option that takes the zeroth argument
	program string   // what comes after that
	locale  bool     // the data of the usual locale travel
}

// move is a path of this machine that is elsewhere on a worker.
type move struct{ from, to string }

// making is a Bundle in the making.
type making struct {
	*Bundle
	o       Options
	digests *digests
	bytes   int64
	loader  string            // of the executables laid out so far, absolute
	libs    map[string]string // name in libFolder → source
	said    map[string]bool
	stays   map[string]bool // real paths of Options.Exclude
}

// Make reads all that is to travel. Its errors are of class Input where the user has to
// ask for something else, and name what; a file that cannot be read is of class
// Environment.
func Make(ctx context.Context, o Options) (*Bundle, error) {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Limits.Files == 0 {
		o.Limits.Files = tree.FilesMax
	}
	if o.Limits.Bytes == 0 {
		o.Limits.Bytes = 8 << 30
	}
	m := &making{Bundle: &Bundle{}, o: o, digests: openDigests(o.Cache), libs: map[string]string{}, said: map[string]bool{}, stays: map[string]bool{}}
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
	for i := range m.files {
		f := &m.files[i]
		if f.Target != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, fault.Interruptedf("%w", err)
		}
		var err error
		if f.Digest, err = m.digests.of(f.Source); err != nil {
			return nil, unreadable(f.Source, err)
		}
		if m.bytes += f.Digest.Size; m.bytes > o.Limits.Bytes {
			return nil, fault.Inputf("what travels with the command is more than %d bytes, the limit, at %s; send less by --remote-input", o.Limits.Bytes, name.Print(f.Source))
		}
	}
	m.digests.save()
	return m.Bundle, nil
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

func unreadable(path string, err error) error {
	return fault.Environmentf("%s cannot be sent along: %w", name.Print(path), err)
}

// Files lists what travels. The slice is the bundle's own and must not be changed.
func (b *Bundle) Files() []File { return b.files }

// Place puts all of it into the root of an action's input.
func (b *Bundle) Place(d *tree.Draft) error {
	for _, f := range b.files {
		var err error
		if f.Target != "" {
			err = d.Link(f.Path, f.Target)
		} else {
			err = d.File(f.Path, tree.File{Digest: f.Digest, Exec: f.Exec})
		}
		if err != nil {
			return fault.Inputf("what travels with the command: %w", err)
		}
	}
	for _, at := range b.folders {
		if err := d.Folder(at); err != nil {
			return fault.Inputf("what travels with the command: %w", err)
		}
	}
	return nil
}

// Blobs yields the contents, each once.
func (b *Bundle) Blobs(yield func(blob.Blob) bool) {
	seen := map[blob.Digest]bool{}
	for _, f := range b.files {
		if f.Target != "" || seen[f.Digest] {
			continue
		}
		seen[f.Digest] = true
		source := f.Source
		if !yield(blob.Blob{Digest: f.Digest, Open: func() (io.ReadCloser, error) { return os.Open(source) }}) {
			return
		}
	}
}

// For returns the arguments of a command for the case of that name, on a worker. Paths are
// moved before the name is put in: a case may be called as an input is.
func (b *Bundle) For(c *exec.Command, caseName string) []string {
	there := *c
	if there.Words = b.Moved(c.Words); !c.Shell {
		there.Words[0] = c.Words[0]
	}
	args := there.Args(caseName)
	return append(b.zeroth(args[0]), args[1:]...)
}

// Args returns the arguments that do on a worker, from the work folder, what the given
// ones do here: those of Command.Args, or of another command that shares its executable.
func (b *Bundle) Args(args []string) []string {
	return append(b.zeroth(args[0]), b.Moved(args[1:])...)
}

// zeroth is what stands on a worker for the zeroth argument.
func (b *Bundle) zeroth(arg string) []string {
	switch {
	case b.argv0:
		return append(slices.Clone(b.start), arg, b.program)
	case b.start != nil:
		return slices.Clone(b.start)
	}
	return []string{b.moved(arg)}
}

// Moved returns the arguments of what is no command of this bundle's, from the work folder.
func (b *Bundle) Moved(args []string) []string {
	moved := make([]string, len(args))
	for i, arg := range args {
		moved[i] = b.moved(arg)
	}
	return moved
}

// Shell is what starts a POSIX shell on a worker: the bundled one, or the worker's own.
func (b *Bundle) Shell() []string {
	if b.shell != nil {
		return slices.Clone(b.shell)
	}
	return []string{posixShell}
}

const posixShell = "/bin/sh"

// moved replaces the paths of inputs in an argument: at its start, after an option's one
// letter (-I), after '=', ':' and ',', and where a word begins in a shell's script.
func (b *Bundle) moved(arg string) string {
	for _, m := range b.moves {
		for at := 0; ; {
			i := strings.Index(arg[at:], m.from)
			if i < 0 {
				break
			}
			at += i
			if end := at + len(m.from); begins(arg, at) && ends(arg, end) {
				arg = arg[:at] + m.to + arg[end:]
				at += len(m.to)
			} else {
				at++
			}
		}
	}
	return arg
}

func begins(arg string, at int) bool {
	return at == 0 || strings.IndexByte("=:, \t\n'\"(;<>|&`", arg[at-1]) >= 0 || at == 2 && arg[0] == '-' && arg[1] != '-'
}

func ends(arg string, at int) bool {
	return at == len(arg) || strings.IndexByte("/:, \t\n'\");<>|&`", arg[at]) >= 0
}

// add notes a file, and refuses what is too much.
func (m *making) add(f File) error {
	if len(m.files) >= m.o.Limits.Files {
		return fault.Inputf("more than %d files travel with the command, the limit, at %s; send less by --remote-input", m.o.Limits.Files, name.Print(f.Source))
	}
	m.files = append(m.files, f)
	return nil
}

func (m *making) note(text string) {
	if !m.said[text] {
		m.said[text] = true
		m.o.Note(text)
	}
}

// command lays out the executable, or finds out how it is named on a worker.
func (m *making) command() error {
	c := m.o.Command
	switch {
	case c == nil:
		return nil
	case m.o.Bundle && c.Shell:
		return fault.Inputf("--remote-bundle sends one executable, and a shell's script starts others: name the command without --shell, or leave --remote-bundle out for what the workers have")
	case m.o.Bundle:
		return m.executable(c.Path)
	case m.within(c.Path) != "":
		m.start = []string{above + m.within(c.Path)}
		return nil
	case !c.Shell && !path.IsAbs(c.Words[0]):
		return fault.Inputf("command %s is of this machine: name it by its absolute path on the workers, or send it along by --remote-bundle, or with its folder by --remote-input", name.Print(c.Words[0]))
	case !c.Shell:
		m.start = []string{c.Words[0]}
	}
	return nil
}

// within is where a file of this machine travels already as a part of an input, or "".
func (m *making) within(file string) string {
	for _, f := range m.files {
		if f.Source == file {
			return f.Path
		}
	}
	if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
		return m.within(real)
	}
	return ""
}
