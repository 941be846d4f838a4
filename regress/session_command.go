package regress

import (
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/name"
)

// inputsChanged returns an error if the corpus changed since the run began. It warns of a
// corpus that was written to and did not change: it may have had other content meanwhile.
func (s *session) inputsChanged() error {
	if err := s.corpus.Changed(); err != nil {
		return err
	}
	if s.corpus.StampNow() != s.corpus.Stamp() {
		s.events.Warn(s.o.Corpus.Path + writtenMeanwhile)
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
