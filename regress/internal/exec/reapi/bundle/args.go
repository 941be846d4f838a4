package bundle

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/name"
	"muster/regress/internal/program"
)

// move maps a path on this machine to its path on a worker.
type move struct{ from, to string }

// CaseArgs returns the arguments with which a command runs on a worker for the case with that
// name, from the work folder. The command is that of Options, or one with other words for the
// same executable. Paths are replaced before the name is inserted, because a case may have the
// name of an input.
func (b *Bundle) CaseArgs(c *exec.Command, caseName string) []string {
	there := *c
	if there.Words = b.movedAll(c.Words); !c.Shell {
		there.Words[0] = c.Words[0]
	}
	args := there.Args(caseName)
	args = append(b.zeroth(args[0]), args[1:]...)
	if c.Stdin {
		// The API has no standard input, so a shell opens it: the bundled shell, or the
		// worker's.
		shell := b.shell
		if shell == nil {
			shell = []string{exec.Shell}
		}
		args = slices.Concat(shell, []string{"-c", `exec "$@" <"$0"`, caseName}, args)
	}
	return args
}

// Args returns the arguments with which words run on a worker, from the work folder. If they
// begin with the command's name, they start its executable.
func (b *Bundle) Args(words []string) []string {
	if slices.Contains(b.calls, words[0]) {
		return append(b.zeroth(words[0]), b.movedAll(words[1:])...)
	}
	return b.movedAll(words)
}

// zeroth returns the zeroth argument of the command on a worker.
func (b *Bundle) zeroth(arg string) []string {
	switch {
	case b.follows != "":
		return append(slices.Clone(b.start), arg, b.follows)
	case b.start != nil:
		return slices.Clone(b.start)
	}
	return []string{b.moved(arg)}
}

func (b *Bundle) movedAll(args []string) []string {
	moved := make([]string, len(args))
	for i, arg := range args {
		moved[i] = b.moved(arg)
	}
	return moved
}

// moved replaces the paths of inputs in an argument: at its start, after an option's single
// letter (-I), after '=', ':' and ',', and at the start of a word in a shell's script.
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

// command lays out the executable, or determines its name on a worker.
func (m *making) command(ctx context.Context) error {
	c := m.o.Command
	m.calls = []string{c.Path}
	if !c.Shell {
		m.calls = append(m.calls, c.Words[0])
	}
	switch {
	case m.o.Bundle && c.Shell:
		return fault.Inputf("[engine] bundle sends one executable, and a shell's script starts others: name the command without --shell, or leave bundle out for what the workers have")
	case m.o.Bundle:
		return m.executable(ctx, c.Path)
	case m.within(c.Path) != "":
		m.start = []string{above + m.within(c.Path)}
		return nil
	case !c.Shell && !path.IsAbs(c.Words[0]):
		return fault.Inputf("command %s is of this machine: name it by its absolute path on the workers, or send it along by the key bundle of [engine], or with its folder by the key input", name.Print(c.Words[0]))
	case !c.Shell:
		m.start = []string{c.Words[0]}
	}
	return nil
}

// within returns the place where a file of this machine travels as a part of an input, or "".
func (m *making) within(file string) string {
	for _, f := range m.items {
		if f.source == file {
			return f.path
		}
	}
	if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
		return m.within(real)
	}
	return ""
}

// content opens a file for sending, as it was when its digest was computed.
func content(file string, d blob.Digest) (io.ReadCloser, error) {
	f, _, err := filedigest.OpenFile(file)
	switch {
	case errors.Is(err, filedigest.ErrNoFile):
		return nil, changed(file)
	case err != nil:
		return nil, unreadable(file, err)
	}
	return blob.Checked(f, d, changed(file)), nil
}

func changed(file string) error {
	return fault.Inputf("%s changed while it was sent along; run again when nothing writes there", name.Print(file))
}

// The locale of cases: the names of its folder in C libraries, and the folders with locales.
const (
	localeName   = "C.utf8"
	localesHere  = "/usr/lib/locale"
	localeFolder = toolFolder + "/locale"
)

// takeLocale adds the data of the locale of cases. Without them a character is a byte to a
// bundled tool. Newer C libraries have the locale built in, and no such folder.
func (m *making) takeLocale() error {
	root := filepath.Join(localesHere, localeName)
	if _, err := os.Stat(root); err != nil {
		return nil // the tool has it built in, or this machine lacks it
	}
	m.locale = true
	return filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(at, err)
		}
		below, err := filepath.Rel(localesHere, at)
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return m.add(item{path: path.Join(localeFolder, filepath.ToSlash(below)), source: at})
	})
}

// LocalePath returns the value of LOCPATH for the locale that travels, or "" if none does.
func (b *Bundle) LocalePath() string {
	if !b.locale {
		return ""
	}
	return above + localeFolder
}

// libraries adds the libraries of a program. The first program that needs a library decides
// which file it is.
func (m *making) libraries(ctx context.Context, file, loader string) error {
	found, err := program.Loader{Path: loader, Folders: m.o.Library, Plain: true}.Libraries(ctx, file)
	if err != nil {
		return fault.Inputf("%s cannot be bundled: its loader %s does not list its libraries: %w", name.Print(file), name.Print(loader), fault.Reason(err))
	}
	for _, none := range found.Missing {
		if m.libs[path.Base(none)] == "" {
			return fault.Inputf("%s cannot be bundled: the library %s is not found; name its folder by --env LD_LIBRARY_PATH=…", name.Print(file), name.Print(none))
		}
	}
	for base, library := range found.Paths {
		if m.libs[base] == "" {
			m.libs[base] = library
		}
	}
	return nil
}

// placeLibraries lays out the libraries of all programs, each once.
func (m *making) placeLibraries() error {
	for _, base := range slices.Sorted(maps.Keys(m.libs)) {
		source, err := filepath.EvalSymlinks(m.libs[base])
		if err != nil {
			return unreadable(m.libs[base], err)
		}
		if err := m.add(item{path: path.Join(libFolder, base), source: source, exec: true}); err != nil {
			return err
		}
	}
	return nil
}
