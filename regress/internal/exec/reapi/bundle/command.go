package bundle

import (
	"context"
	"path"
	"path/filepath"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// command lays out the executable, or determines its name on a worker.
func (m *making) command(ctx context.Context) error {
	c := m.o.Command
	m.calls = []string{c.Path}
	if !c.Shell {
		m.calls = append(m.calls, c.Words[0])
	}
	switch {
	case m.o.Bundle && c.Shell:
		return fault.Inputf("--remote-bundle sends one executable, and a shell's script starts others: name the command without --shell, or leave --remote-bundle out for what the workers have")
	case m.o.Bundle:
		return m.executable(ctx, c.Path)
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
