package bundle

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	osexec "os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
		return startLine{}, fault.Inputf("%s cannot be bundled: %s; send the folder that has both by the key input of [engine] and name it there, without bundle, or name one that the workers have by its absolute path", name.Print(file), what)
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

// script lays out a file that begins with #!, and the program that interprets it.
func (m *making) script(ctx context.Context, file, real string) (startLine, error) {
	words, err := program.Script(real)
	switch {
	case err != nil:
		return startLine{}, unreadable(file, err)
	case len(words) == 0:
		return startLine{}, fault.Inputf("%s cannot be bundled: it is neither a whole ELF program nor a script that begins with #!; send it by the key input of [engine]", name.Print(file))
	}
	if words, err = interpreterOf(words); err != nil {
		return startLine{}, fault.Inputf("%s cannot be bundled: %w", name.Print(file), err)
	}
	s, err := m.program(ctx, words[0])
	if err != nil {
		return s, err
	}
	at, err := m.place(file, real)
	if err != nil {
		return s, err
	}
	m.note(fmt.Sprintf("%s is a script: its interpreter travels with it, the programs that it starts do not", name.Print(file)))
	s.after = append(append([]string{}, words[1:]...), above+at)
	return s, nil
}

// interpreterOf returns the program that a script's first line starts, with its arguments. It
// must have an absolute path and not be env.
func interpreterOf(words []string) ([]string, error) {
	if path.Base(words[0]) == "env" && len(words) > 1 {
		if words = strings.Fields(strings.TrimPrefix(words[1], "-S")); len(words) == 0 || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") {
			return nil, errors.New("its first line asks env for more than a program; name the interpreter there")
		}
		found, err := osexec.LookPath(words[0])
		if err != nil {
			return nil, fmt.Errorf("its interpreter %s is not found: %w", name.Print(words[0]), err)
		}
		words = append([]string{found}, words[1:]...)
	}
	if !path.IsAbs(words[0]) {
		return nil, fmt.Errorf("its interpreter %s has no absolute path", name.Print(words[0]))
	}
	again, err := program.Script(words[0])
	switch {
	case err != nil:
		return nil, fmt.Errorf("its interpreter %s cannot be read: %w", name.Print(words[0]), fault.Reason(err))
	case again != nil:
		return nil, fmt.Errorf("its interpreter %s is a script itself; name the program which that starts", name.Print(words[0]))
	}
	return words, nil
}

// seeker is a kind of program that needs files which it finds by its own path. Under a bundled
// loader, its own path is the loader's.
type seeker struct {
	mark    string // a text that only such a program contains
	library string // prefix of the library that has the text instead of the program; "" = none has
	what    string // what the program looks for
}

func seekers() []seeker {
	return []seeker{
		{"%{!fsyntax-only", "", "a driver of gcc looks for cc1 and the others beside itself"},
		{"PYTHONHOME", "libpython", "Python looks for its library beside itself"},
		{"PERL5LIB", "libperl", "Perl looks for its modules where it was installed"},
		{"RUBYLIB", "libruby", "Ruby looks for its library beside itself"},
		{"_JAVA_LAUNCHER_DEBUG", "libjli", "Java looks for its machine beside itself"},
	}
}

// partsOf returns what a program looks for, or "".
func partsOf(file string, f *elf.File) string {
	libraries, _ := f.ImportedLibraries() // a static program has no libraries
	for _, s := range seekers() {
		if slices.ContainsFunc(libraries, s.in) {
			return s.what
		}
	}
	for _, s := range seekers() {
		if found, err := program.Holds(file, s.mark); err == nil && found {
			return s.what
		}
	}
	return ""
}

func (s seeker) in(library string) bool {
	return s.library != "" && strings.HasPrefix(library, s.library)
}
