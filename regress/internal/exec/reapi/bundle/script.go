package bundle

import (
	"context"
	"errors"
	"fmt"
	osexec "os/exec"
	"path"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/program"
)

// script lays out a file that begins with #!, and the program that interprets it.
func (m *making) script(ctx context.Context, file, real string) (startLine, error) {
	words, err := program.Script(real)
	switch {
	case err != nil:
		return startLine{}, unreadable(file, err)
	case len(words) == 0:
		return startLine{}, fault.Inputf("%s cannot be bundled: it is neither a whole ELF program nor a script that begins with #!; send it by --remote-input", name.Print(file))
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
