package bundle

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/program"
)

// executable lays out the command's executable: a program with its libraries, or a script with
// its interpreter.
func (m *making) executable(ctx context.Context, file string) error {
	start, err := m.program(ctx, file)
	if err != nil {
		return err
	}
	if m.o.Command.Stdin {
		// a shell opens the source
		shell, err := m.program(ctx, exec.Shell)
		if err != nil {
			return err
		}
		m.shell = shell.plain()
	}
	m.use(start)
	if m.loader != "" {
		if err := m.takeLocale(); err != nil {
			return err
		}
	}
	return m.placeLibraries()
}

// startLine is how a laid-out program is started from the work folder.
type startLine struct {
	before []string // the loader with its options; empty for a static program
	argv0  bool     // the loader knows --argv0
	path   string
	after  []string // a script's own argument, and its path
}

func (s startLine) plain() []string { return append(append(s.before, s.path), s.after...) }

func (m *making) use(s startLine) {
	if s.argv0 && len(s.after) == 0 {
		m.start, m.follows = append(s.before, "--argv0"), s.path
		return
	}
	m.start = s.plain()
}

// program lays out one executable file.
func (m *making) program(ctx context.Context, file string) (startLine, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return startLine{}, unreadable(file, err)
	}
	f, err := elf.Open(real)
	switch {
	case errors.As(err, new(*elf.FormatError)), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return m.script(ctx, file, real)
	case err != nil:
		return startLine{}, unreadable(file, err)
	}
	defer f.Close()
	if what := partsOf(real, f); what != "" {
		return startLine{}, fault.Inputf("%s cannot be bundled: %s; send the folder that has both by --remote-input and name it there, without --remote-bundle, or name one that the workers have by its absolute path", name.Print(file), what)
	}
	at, err := m.place(file, real)
	if err != nil {
		return startLine{}, err
	}
	s := startLine{path: above + at}
	loader, err := program.Interpreter(f)
	if err != nil {
		return s, fault.Inputf("%s cannot be bundled: it is damaged: %w", name.Print(file), err)
	}
	if loader == "" {
		return s, nil // a static program needs nothing else
	}
	return m.loaded(ctx, s, file, real, loader)
}

// loaded lays out a program with its libraries. The loader that the program names starts it.
func (m *making) loaded(ctx context.Context, s startLine, file, real, loader string) (startLine, error) {
	if m.loader != "" && m.loader != loader {
		return s, fault.Inputf("--stdin needs %s there, which is started by %s, and the command is by %s: they cannot be bundled together; name the case by {in}, without --stdin", name.Print(file), name.Print(loader), name.Print(m.loader))
	}
	argv0, err := program.Holds(loader, "argv0")
	if errors.Is(err, fs.ErrNotExist) {
		return s, fault.Environmentf("%s cannot be bundled: the loader %s that it asks for is not there", name.Print(file), name.Print(loader))
	} else if err != nil {
		return s, unreadable(loader, err)
	}
	m.loader = loader
	if err := m.libraries(ctx, real, loader); err != nil {
		return s, err
	}
	ld := path.Join(libFolder, filepath.Base(loader))
	s.before, s.argv0 = []string{above + ld, "--library-path", above + libFolder}, argv0
	return s, nil
}

// place adds an executable unless it travels already, and returns its place.
func (m *making) place(file, real string) (at string, err error) {
	info, err := os.Stat(real)
	if err != nil {
		return "", unreadable(file, err)
	}
	if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		m.note(fmt.Sprintf("%s runs with its owner's rights here (setuid), and on a worker with those of who starts it", name.Print(file)))
	}
	if at = m.within(real); at != "" {
		return at, nil
	}
	at = path.Join(binFolder, filepath.Base(file))
	if slices.ContainsFunc(m.items, func(i item) bool { return i.path == at }) {
		at = path.Join(otherFolder, filepath.Base(file))
	}
	return at, m.add(item{path: at, source: real, exec: true})
}
