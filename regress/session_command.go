package regress

import (
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
	"muster/regress/internal/tool"
)

// command is what runs, resolved.
type command struct {
	main   *exec.Command
	byGlob []globbed
	tool   *tool.Identity // nil before identifyTool
}

type globbed struct {
	glob    string
	command *exec.Command
}

// For returns the command for a case.
func (c *command) For(name string) *exec.Command {
	for _, g := range c.byGlob {
		if ok, err := glob.Match(g.glob, name); err == nil && ok {
			return g.command
		}
	}
	return c.main
}

// all returns the commands.
func (c *command) all() (list []*exec.Command) {
	if c.main != nil {
		list = append(list, c.main)
	}
	for _, g := range c.byGlob {
		list = append(list, g.command)
	}
	return list
}

// inputsChanged returns an error if the corpus changed since the run began. It warns of a
// corpus that was written to and did not change: it may have had other content meanwhile.
func (s *session) inputsChanged() error {
	if err := s.corpus.Changed(); err != nil {
		return err
	}
	if s.corpus.StampNow() != s.corpus.Stamp() {
		s.warn(s.o.Corpus.Path + writtenMeanwhile)
	}
	return nil
}

// resolve finds the executables, and a command for every case. It comes after connect, which
// says whether they are to be here.
func (s *session) resolve() (err error) {
	if s.command, err = s.executables(); err != nil || s.command.main != nil {
		return err
	}
	for _, e := range s.cases {
		if s.command.For(e.Name) == nil {
			return fault.Inputf("no command for %s: none of the globs of [[commands]] matches it, and there is no command for the rest", name.Print(e.Name))
		}
	}
	return nil
}

func (s *session) executables() (cmd command, err error) {
	c := &s.o.Command
	if len(c.Words) > 0 || len(c.ByGlob) == 0 {
		if cmd.main, err = s.executable(c.Words); err != nil {
			return cmd, err
		}
	}
	for _, g := range c.ByGlob {
		if _, err := glob.Match(g.Glob, "x"); err != nil {
			return cmd, err
		}
		r, err := s.executable(g.Words)
		if err != nil {
			return cmd, err
		}
		cmd.byGlob = append(cmd.byGlob, globbed{g.Glob, r})
	}
	return cmd, nil
}
